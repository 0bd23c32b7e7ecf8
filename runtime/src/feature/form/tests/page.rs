//! The page that describes the form of each type.

use super::*;

/// The table of the page matches the code.
#[test]
fn the_page() {
    #[derive(Deserialize, JsonSchema, Serialize)]
    #[serde(rename_all = "snake_case")]
    enum Size {
        Small,
        Large,
    }
    #[derive(Deserialize, JsonSchema, Serialize)]
    #[serde(rename_all = "snake_case")]
    enum Titled {
        /// Up to 2
        Small,
        #[schemars(title = "Up to 8")]
        Large,
    }
    fn score() -> f64 {
        95.5
    }
    macro_rules! rows {
        ($($name:literal: #[$attribute:meta] $ty:ty;)*) => {
            [$({
                #[expect(dead_code, reason = "only its schema is used")]
                #[derive(Deserialize, JsonSchema)]
                struct One {
                    #[$attribute]
                    field: $ty,
                }
                row($name, &form::<One>())
            }),*]
        };
    }
    fn row(name: &str, form: &Form) -> String {
        let field = |revision| -> Result<String, String> {
            let schema = form.at(revision)?;
            let field = schema.properties.get("field").unwrap();
            Ok(String::from_utf8(At::new(field, revision).to_vec()).unwrap())
        };
        let full = field(R4).unwrap();
        assert_eq!(field(R5).as_ref(), Ok(&full));
        let older = match field(R3) {
            Ok(older) if older == full => String::new(),
            Ok(older) => format!("`{older}` "),
            Err(_) => "cannot be asked for ".to_owned(),
        };
        format!("| {name} | `{full}` | {older}|")
    }
    let rows = rows! {
        "`String`": #[serde()] String;
        "`char`": #[serde()] char;
        "`String` with `#[schemars(length(min = 1, max = 5))]`": #[schemars(length(min = 1, max = 5))] String;
        "`String` with `#[schemars(email)]`": #[schemars(email)] String;
        "`String` with `#[schemars(url)]`": #[schemars(url)] String;
        "`String` with `#[schemars(extend(\"format\" = \"date\"))]`, or `\"date-time\"`": #[schemars(extend("format" = "date"))] String;
        "`String` with another format or a pattern": #[schemars(regex(pattern = "^a"), extend("format" = "uuid"))] String;
        "`u8`": #[serde()] u8;
        "`i64` with `#[schemars(range(min = 1, max = 10))]`": #[schemars(range(min = 1, max = 10))] i64;
        "`f64`": #[serde()] f64;
        "`bool`": #[serde()] bool;
        "`f64` with `#[serde(default = \"…\")]`": #[serde(default = "score")] f64;
        "`bool` with `#[serde(default)]`": #[serde(default)] bool;
        "an enum of unit variants": #[serde()] Size;
        "an enum whose variants have descriptions or titles": #[serde()] Titled;
        "an enum with `#[schemars(extend(\"enumNames\" = [\"S\", \"L\"]))]`": #[schemars(extend("enumNames" = ["S", "L"]))] Size;
        "a list or set of an enum": #[serde()] Vec<Size>;
        "a list or set of an enum with titles": #[serde()] Vec<Titled>;
    };
    let page = include_str!("../askable.md");
    let table: Vec<&str> = page
        .lines()
        .filter(|line| line.starts_with("| "))
        .skip(2)
        .collect();
    assert_eq!(table, rows);
}
