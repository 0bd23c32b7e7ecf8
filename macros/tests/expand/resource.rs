/// How to use the shop.
#[resource("shop://readme")]
fn readme() -> &'static str {
    "Buy things."
}

/// A row of a table.
#[resource("db://{table}/{id}", blocking)]
fn row(#[arg(complete = tables)] table: String, id: u64, State(pool): State<Pool>) -> Result<Json<Row>, Error> {
    pool.row(&table, id)
}

const RESOURCES: ResourceSet = resources![readme, row];
