use trueform::prelude::*;

struct Shop;

macro_rules! priced {
    ($name:ident) => {
        /// The price.
        #[tool]
        fn $name(&self) -> String {
            "free".to_owned()
        }
    };
}

macro_rules! open {
    ($name:ident) => {
        /// Whether it is open.
        #[tool]
        async fn $name() -> String {
            "always".to_owned()
        }
    };
}

#[server]
impl Shop {
    /// The name.
    #[tool]
    fn name(&self) -> String {
        "shop".to_owned()
    }

    priced!(bread);
    open!(today);
}

fn main() {}
