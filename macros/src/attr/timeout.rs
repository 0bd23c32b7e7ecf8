//! The key `timeout`, and durations.

use proc_macro2::{Span, TokenStream};
use syn::{
    LitStr, Meta, Token,
    parse::{Parse, ParseStream, Parser},
};

use super::{flag, known, metas, pieces, span_of, string};
use crate::{diagnostics::Diagnostics, text::milliseconds};

/// The time limits of a call, in milliseconds.
#[derive(Clone, Copy)]
pub(crate) struct Timeout {
    /// The span of the key.
    pub(crate) at: Span,
    pub(crate) limit: u64,
    pub(crate) reset_by_progress: bool,
    pub(crate) hard_limit: Option<u64>,
}

pub(super) const TIMEOUT_KEYS: &[&str] = &["reset_by_progress", "hard_limit"];

pub(super) fn timeout(meta: &Meta, diag: &mut Diagnostics) -> Option<Timeout> {
    match meta {
        Meta::NameValue(_) => {
            let limit = duration(&string(meta, diag)?, diag)?;
            Some(Timeout {
                at: span_of(meta.path()),
                limit,
                reset_by_progress: false,
                hard_limit: None,
            })
        }
        Meta::List(list) => {
            match (|input: ParseStream<'_>| TimeoutList::parse(input)).parse2(list.tokens.clone()) {
                Ok(parsed) => parsed.lower(span_of(&list.path), diag),
                Err(_) => {
                    diag.error(meta, TIMEOUT_FORM);
                    None
                }
            }
        }
        Meta::Path(_) => {
            diag.error(meta, TIMEOUT_FORM);
            None
        }
    }
}

const TIMEOUT_FORM: &str =
    "expected `timeout = \"30s\"` or `timeout(\"30s\", reset_by_progress, hard_limit = \"10m\")`";

struct TimeoutList {
    limit: LitStr,
    rest: TokenStream,
}

impl Parse for TimeoutList {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let limit = input.parse()?;
        input.parse::<Option<Token![,]>>()?;
        Ok(Self {
            limit,
            rest: input.parse()?,
        })
    }
}

impl TimeoutList {
    fn lower(self, at: Span, diag: &mut Diagnostics) -> Option<Timeout> {
        let mut timeout = Timeout {
            at,
            limit: duration(&self.limit, diag)?,
            reset_by_progress: false,
            hard_limit: None,
        };
        for meta in metas(pieces(self.rest), diag) {
            match known(
                meta.path(),
                TIMEOUT_KEYS,
                ("timeout key", "timeout keys"),
                diag,
            )? {
                "reset_by_progress" => timeout.reset_by_progress = flag(&meta, diag)?,
                _ => {
                    let limit = string(&meta, diag)?;
                    timeout.hard_limit = Some(duration(&limit, diag)?);
                    if timeout.hard_limit <= Some(timeout.limit) {
                        diag.error(
                            limit,
                            "`hard_limit` must be longer than the timeout it bounds",
                        );
                    }
                }
            }
        }
        if timeout.hard_limit.is_some() && !timeout.reset_by_progress {
            diag.error(
                self.limit,
                "`hard_limit` bounds what `reset_by_progress` extends: add `reset_by_progress`, or drop `hard_limit`",
            );
        }
        Some(timeout)
    }
}

pub(super) fn duration(text: &LitStr, diag: &mut Diagnostics) -> Option<u64> {
    let milliseconds = milliseconds(&text.value());
    if milliseconds.is_none() {
        diag.error(
            text,
            "expected a duration above zero such as `500ms`, `30s`, `5m` or `1h`",
        );
    }
    milliseconds
}
