//! The types that are found in a body, and those that are left out.

use quote::quote;

use super::*;

#[track_caller]
fn check(body: &TokenStream, expected: &[&str]) {
    let generics = syn::parse_str::<Generics>("<'a, G: Clone, const N: usize>").unwrap();
    let found: Vec<String> = found(body, Some(&generics))
        .iter()
        .map(|ty| ty.to_string().replace(' ', ""))
        .collect();
    assert_eq!(found, expected, "{body}");
}

// the types that a body asks for are known when the server starts.
#[test]
fn types_in_bodies() {
    check(
        &quote!({
            context.ask::<Booking>("key", "text").await?;
        }),
        &["Booking"],
    );
    check(
        &quote!({
            self.context.ask::<a::B<C, bool>>("k", "t");
            ask.ask::<()>("k", "t");
        }),
        &["a::B<C,bool>", "()"],
    );
    check(
        &quote!({
            x.ask::<A>("a", "?");
            if true {
                x.ask::<A>("b", "?")
            }
        }),
        &["A"],
    );
    check(
        &quote!({
            tokio::join!(x.ask::<A>("a", "?"), async {
                y.ask::<Option<B>>("b", "?").await
            })
        }),
        &["A", "Option<B>"],
    );
    check(
        &quote!({
            x.ask::<fn(A) -> B>("a", "?");
            x.ask::<C>("a", "?")
        }),
        &["fn(A)->B", "C"],
    );
    for nothing in [
        quote!({ x.ask("a", "?"); ask::<A>("a", "?"); x.asks::<A>("a", "?"); x.ask::<A>; "x.ask::<A>()"; x.ask::<A, B>() }),
        quote!({
            x.ask::<_>("a", "?");
            x.ask::<Vec<_>>("a", "?");
            x.ask::<G>("a", "?");
            x.ask::<Vec<[G; N]>>("a", "?")
        }),
        quote!({
            macro_rules! m {
                ($t:ty) => {
                    x.ask::<$t>("a", "?")
                };
            }
        }),
    ] {
        check(&nothing, &[]);
    }
}

// also if the call leaves the type to the `let` around it.
#[test]
fn types_of_statements() {
    for (body, expected) in [
        (
            quote!({
                let a: Asked<A> = x.ask("a", "?").await?;
            }),
            &["A"][..],
        ),
        (
            quote!({
                let a: Asked<A> = x.ask("a", "?").await?.map(|b: B| A::of(b));
                let a: Asked<A> = x.ask("a", "?").await?.map::<A>(|b: B| A::of(b));
            }),
            &[],
        ),
        (
            quote!({
                let (a, n): (Asked<A>, Vec<u8>) =
                    (x.ask("a", "?").await?, rows.iter().map(f).collect());
            }),
            &["A"],
        ),
        (
            quote!({
                let a: trueform::Asked<b::A<C>> = x.ask::<_>("a", "?").await?;
            }),
            &["b::A<C>"],
        ),
        (
            quote!({
                let (a, b): (Result<Asked<A>, _>, Result<Asked<B>, _>) =
                    join!(x.ask("a", "?"), x.ask("b", "?"));
            }),
            &["A", "B"],
        ),
        (
            quote!({
                let Asked::Accepted(a): Asked<A> = x.ask("a", "?").await? else {
                    return;
                };
            }),
            &["A"],
        ),
        (
            quote!({
                let s: Box<dyn Iterator<Item = Asked<A>>> = Box::new(x.ask("a", "?").await?);
            }),
            &["A"],
        ),
        (
            quote!({
                if y {
                    let a: Result<Asked<A>, E> = x.ask("a", "?").await;
                }
            }),
            &["A"],
        ),
        (
            quote!({
                let a: Asked<A> = x.ask::<A>("a", "?").await?;
            }),
            &["A"],
        ),
        // The types of other things.
        (
            quote!({
                let a: Asked<A> = made();
            }),
            &[],
        ),
        (
            quote!({
                let a: Asked<A> = x.ask_url("a", "?", "u").await?;
            }),
            &[],
        ),
        (
            quote!({
                let a: A = x.ask("a", "?").await?;
            }),
            &[],
        ),
        (
            quote!({
                let a = x.ask("a", "?").await?;
                let b: Asked<B> = made();
            }),
            &[],
        ),
        (
            quote!({
                let a: Asked<_> = x.ask("a", "?").await?;
            }),
            &[],
        ),
        (
            quote!({
                let a: Asked<G> = x.ask("a", "?").await?;
            }),
            &[],
        ),
        (
            quote!({
                struct A;
                let a: Asked<A> = x.ask("a", "?").await?;
            }),
            &[],
        ),
        (
            quote!({
                #[cfg(b)]
                let a: Asked<A> = x.ask("a", "?").await?;
            }),
            &[],
        ),
        (
            quote!({
                let B { c: d } = x.ask("a", "?").await?;
            }),
            &[],
        ),
    ] {
        check(&body, expected);
    }
}

#[test]
fn types_of_bodies() {
    check(
        &quote!({
            struct S {
                x: u8,
            }
            #[derive(Clone)]
            enum E {
                A,
            }
            type T = u8;
            mod m {}
            use super::{forms::Imported, other as Renamed};
            x.ask::<S>("a", "?");
            x.ask::<Vec<E>>("a", "?");
            x.ask::<T>("a", "?");
            x.ask::<m::X>("a", "?");
            x.ask::<Imported>("a", "?");
            x.ask::<Renamed>("a", "?");
            x.ask::<crate::S>("a", "?");
            x.ask::<a::S>("a", "?")
        }),
        &["crate::S", "a::S"],
    );
    // Declared later, and in an inner scope.
    check(
        &quote!({
            x.ask::<S>("a", "?");
            {
                struct S;
            }
        }),
        &[],
    );
    check(
        &quote!({
            async fn inner<X: JsonSchema>(x: Context) {
                x.ask::<X>("a", "?");
                x.ask::<Y>("a", "?")
            }
        }),
        &["Y"],
    );
    check(
        &quote!({
            impl<X> Trait for Thing<X> {
                fn f() {
                    x.ask::<X>("a", "?")
                }
            }
        }),
        &[],
    );
    check(
        &quote!({
            use forms::*;
            x.ask::<S>("a", "?");
            x.ask::<bool>("a", "?");
            x.ask::<Option<u8>>("a", "?");
            x.ask::<crate::S>("a", "?")
        }),
        &["bool", "Option<u8>", "crate::S"],
    );
}

#[test]
fn types_that_may_not_exist() {
    check(
        &quote!({
            #[cfg(unix)]
            x.ask::<A>("a", "?");
            x.ask::<B>("b", "?");
        }),
        &["B"],
    );
    check(
        &quote!({
            #[cfg(unix)]
            {
                x.ask::<A>("a", "?")
            }
            x.ask::<B>("b", "?");
        }),
        &["B"],
    );
    check(
        &quote!({
            #[cfg(unix)]
            if a {
                x.ask::<A>("a", "?")
            } else {
                x.ask::<C>("a", "?")
            }
            x.ask::<B>("b", "?");
        }),
        &["B"],
    );
    check(
        &quote!({
            #[cfg(unix)]
            let a = match b {
                _ => x.ask::<A>("a", "?"),
            }
            .then(x.ask::<C>("a", "?"));
            x.ask::<B>("b", "?");
        }),
        &["B"],
    );
    check(
        &quote!({
            #[cfg(unix)]
            struct S;
            x.ask::<S>("a", "?")
        }),
        &[],
    );
    check(
        &quote!({
            #[allow(unused)]
            x.ask::<A>("a", "?");
        }),
        &["A"],
    );
}
