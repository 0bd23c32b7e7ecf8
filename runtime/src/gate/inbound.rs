//! The one place every message passes on its way in: what its revision does not allow is refused, unless it is one of the
//! things that real peers are known to do.
//!
//! Decoding refuses what has not the form of its type, whatever the settings. What decoding lets through is looked at here:
//! by `conform`, and, where not everything is to pass, by comparing the text with what the value says at its revision. A message
//! is so judged as it came, not as the revision would see it (DEC-12).

mod answers;
mod envelope;
mod nulls;

use std::ops::ControlFlow;

use serde_json::value::RawValue;
use trueform_schema::{
    Conform, DecodeError, Encode, ErrorObject, Method, RequestMetaObject, Revision, Violation,
    conform::{Difference, DifferenceKind, Path, Rule, Walk, differences},
    decode,
};

pub(crate) use self::answers::unfit as unfit_answer;
use super::{Leniencies, Leniency, Policy};
use crate::jsonrpc::{self, ErrorDetail};

/// What the text of a message shows, and the value that was decoded from it does not.
const OF_TEXT: [Leniency; 4] = [
    Leniency::UnknownMembers,
    Leniency::AbsentMembers,
    Leniency::IntegralFloats,
    Leniency::UnknownValues,
];

/// What is done about incoming messages.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Inbound {
    pub(crate) policy: Policy,
    pub(crate) leniencies: Leniencies,
    /// Whether no message is read quickly, so that what is read quickly can be compared.
    pub(crate) is_careful: bool,
}

impl Inbound {
    /// The defaults, without the quick reader.
    #[cfg(feature = "testing")]
    pub(crate) const CAREFUL: Self = Self {
        policy: Policy::Enforce,
        leniencies: Leniencies::ALL,
        is_careful: true,
    };

    /// Whether messages may be read quickly, in which case nothing of them is kept but what was decoded.
    pub(crate) fn reads_quickly(self) -> bool {
        !self.needs_text() && !self.is_careful
    }

    /// Whether the text of params must be kept although they were decoded.
    pub(crate) fn needs_text(self) -> bool {
        self.policy != Policy::Off && self.leniencies != Leniencies::ALL
    }

    /// Decodes `text`, which stands at `prefix` in a message of `method`, at `revision`. Members that are null although they may
    /// not be count as absent, if that is let in (DEC-6): then the text without them is returned too. So it is with answers that do not
    /// have the form of any, if values are let in that the revision does not have: they are empty objects then.
    ///
    /// # Errors
    /// The text does not have the form that `decode` asks for, or has such a member and it is not let in.
    pub(crate) fn decode<T>(
        self,
        text: &str,
        prefix: &str,
        method: &str,
        revision: Revision,
        mut decode: impl FnMut(&str) -> Result<T, DecodeError>,
    ) -> Result<(T, Option<String>), ErrorDetail> {
        let error = match decode(text) {
            Ok(decoded) => return Ok((decoded, None)),
            Err(error) => error,
        };
        // T-10
        let mended = match prefix == "/params" && !self.forbids(Leniency::UnknownValues) {
            true => answers::without_malformed(text),
            false => None,
        };
        let (text, error) = match mended.as_deref() {
            Some(mended) => match decode(mended) {
                Ok(decoded) => return Ok((decoded, Some(mended.to_owned()))),
                Err(error) => (mended, error),
            },
            None => (text, error),
        };
        let read = nulls::read_without(text, error, decode)
            .map_err(|error| ErrorDetail::of_decoding(&error, prefix))?;
        self.admit_null(read.first, prefix, method, revision)?;
        Ok((read.value, Some(read.text)))
    }

    /// Whether a null in place of a member that may not be null counts as none.
    pub(super) fn takes_nulls(self) -> bool {
        !self.forbids(Leniency::NullMembers)
    }

    /// Checks `decoded`, which was decoded from `text`, the params of `method`, at `revision`. There may be no text although there
    /// were params, if [`needs_text`](Self::needs_text) says that it is not needed.
    ///
    /// # Errors
    /// -32602, with pointer, rule, what was expected and what was found.
    pub(crate) fn check_params(
        self,
        decoded: &dyn Conform,
        method: Method,
        revision: Revision,
        text: Option<&str>,
    ) -> Result<(), ErrorObject> {
        let fault = self.fault_of_params(decoded, method, revision, text);
        self.judge(fault, method.as_str(), revision)
            .map_err(|fault| jsonrpc::params_error(method.as_str(), &fault))
    }

    fn fault_of_params(
        self,
        decoded: &dyn Conform,
        method: Method,
        revision: Revision,
        text: Option<&str>,
    ) -> Option<ErrorDetail> {
        match text {
            Some("null") if self.forbids(Leniency::NullMembers) => {
                let name = Leniency::NullMembers.name();
                Some(ErrorDetail::new(
                    "/params",
                    name,
                    "an object, or no `params`",
                    "null",
                ))
            }
            None if self.forbids(Leniency::AbsentParams)
                && method
                    .rules(revision)
                    .is_some_and(|rules| rules.params_required) =>
            {
                let expected = format!("an object, which `{method}` requires at {revision}");
                Some(ErrorDetail::new(
                    "/params",
                    Leniency::AbsentParams.name(),
                    expected,
                    jsonrpc::NOTHING,
                ))
            }
            _ => self.look(decoded, revision, object_for(text), "/params"),
        }
    }

    /// Checks `decoded`, which `text` is the params of, a method of an extension, at `revision`.
    ///
    /// # Errors
    /// As [`check_params`](Self::check_params).
    pub(crate) fn check_decoded(
        self,
        decoded: &dyn Conform,
        method: &str,
        revision: Revision,
        text: Option<&str>,
    ) -> Result<(), ErrorObject> {
        let fault = self.look(decoded, revision, text.unwrap_or("{}"), "/params");
        self.judge(fault, method, revision)
            .map_err(|fault| jsonrpc::params_error(method, &fault))
    }

    /// Checks `meta`, which `text` is, the `_meta` of a request of an extension, at `revision`.
    ///
    /// # Errors
    /// As [`check_params`](Self::check_params).
    pub(crate) fn check_meta(
        self,
        meta: &RequestMetaObject,
        method: &str,
        revision: Revision,
        text: &str,
    ) -> Result<(), ErrorObject> {
        let fault = self.look(meta, revision, text, "/params/_meta");
        self.judge(fault, method, revision)
            .map_err(|fault| jsonrpc::params_error(method, &fault))
    }

    /// Whether nothing is wrong with `meta`, the `_meta` of a request at `revision`, that is complained of under the policy.
    pub(super) fn is_spotless(self, meta: &RequestMetaObject, revision: Revision) -> bool {
        self.look(meta, revision, "{}", "/params/_meta").is_none()
    }

    /// A message of one of the kinds that `decode` knows, as `revision` allows it, and its params if they are read in another way
    /// than they were written.
    ///
    /// # Errors
    /// As [`check_params`](Self::check_params); `decode` does not know `method`.
    pub(crate) fn message<T: Conform>(
        self,
        method: Method,
        revision: Revision,
        params: Option<&RawValue>,
        decode: fn(Revision, Method, Option<&str>) -> Result<T, DecodeError>,
    ) -> Result<(T, Option<String>), ErrorObject> {
        let refuse = |fault| jsonrpc::params_error(method.as_str(), &fault);
        let params = params.map(RawValue::get);
        let text = object_for(params);
        let read = |text: &str| decode(revision, method, Some(text));
        let error = match read(text) {
            Ok(decoded) => match self.fault_of_params(&decoded, method, revision, params) {
                Some(fault) if !nulls::is_null(&fault) => {
                    let judged = self.judge(Some(fault), method.as_str(), revision);
                    return judged.map(|()| (decoded, None)).map_err(refuse);
                }
                Some(fault) => unfit(&fault.within("/params")),
                None => return Ok((decoded, None)),
            },
            Err(error) => error,
        };
        let (prefix, name) = ("/params", method.as_str());
        let read = self
            .without_nulls(text, error, revision, read)
            .map_err(|error| refuse(ErrorDetail::of_decoding(&error, prefix)))?;
        self.admit_null(read.first, prefix, name, revision)
            .map_err(refuse)?;
        self.check_params(&read.value, method, revision, Some(&read.text))?;
        Ok((read.value, Some(read.text)))
    }

    /// The answer `text` to a request of ours, as `revision` allows it.
    ///
    /// # Errors
    /// What is wrong with it; the pointer is relative to the result.
    pub(crate) fn result<T: Conform + for<'de> serde::Deserialize<'de>>(
        self,
        method: &str,
        revision: Revision,
        text: &str,
    ) -> Result<T, DecodeError> {
        self.result_by(method, revision, text, |text| decode::from_str(text))
    }

    /// As [`result`](Self::result), decoded by `decode`.
    ///
    /// # Errors
    /// As [`result`](Self::result), and those of `decode`.
    pub(crate) fn result_by<T: Conform>(
        self,
        method: &str,
        revision: Revision,
        text: &str,
        decode: fn(&str) -> Result<T, DecodeError>,
    ) -> Result<T, DecodeError> {
        let error = match decode(text) {
            Ok(result) => match self.look(&result, revision, text, "") {
                Some(fault) if !nulls::is_null(&fault) => {
                    let judged = self.judge(Some(fault), method, revision);
                    return judged.map(|()| result).map_err(|fault| unfit(&fault));
                }
                Some(fault) => unfit(&fault),
                None => return Ok(result),
            },
            Err(error) => error,
        };
        let read = self.without_nulls(text, error, revision, decode)?;
        self.admit_null(read.first, "", method, revision)
            .map_err(|fault| unfit(&fault))?;
        let fault = self.look(&read.value, revision, &read.text, "");
        let judged = self.judge(fault, method, revision);
        judged.map(|()| read.value).map_err(|fault| unfit(&fault))
    }

    /// Whether a request over HTTP may have the id of another one that is not answered yet.
    pub(crate) fn allows_repeated_ids(self) -> bool {
        !self.forbids(Leniency::RepeatedIds)
    }

    /// Whether a request of an extension over HTTP may lack the header that repeats the name in its params.
    pub(crate) fn allows_absent_names(self) -> bool {
        !self.forbids(Leniency::AbsentNames)
    }

    /// Whether `leniency` is to be looked for.
    fn forbids(self, leniency: Leniency) -> bool {
        self.policy != Policy::Off && !self.leniencies.contains(leniency)
    }

    /// The first thing that is wrong with `value`, which was decoded from `text`.
    fn look(
        self,
        value: &dyn Conform,
        revision: Revision,
        text: &str,
        prefix: &str,
    ) -> Option<ErrorDetail> {
        if self.policy == Policy::Off {
            return None;
        }
        let mut first = None;
        let mut sink = |violation: Violation| {
            if self.tolerates(&violation) && !is_other_result(&violation, prefix) {
                return ControlFlow::Continue(());
            }
            first = Some(violation);
            ControlFlow::Break(())
        };
        // What a revision sees in place of something else is not what came.
        let mut walk = match self.forbids(Leniency::UnknownValues) {
            true => Walk::incoming(revision, &mut sink),
            false => Walk::new(revision, &mut sink),
        };
        let _ = value.conform(&mut walk, &Path::ROOT);
        match first {
            Some(violation) => Some(ErrorDetail::of_violation(&violation, prefix)),
            // `_meta` is open.
            None if prefix.ends_with("/_meta") => None,
            None if OF_TEXT.into_iter().any(|leniency| self.forbids(leniency)) => {
                self.compare(value, revision, text, prefix)
            }
            None => None,
        }
    }

    fn tolerates(self, violation: &Violation) -> bool {
        match violation.rule() {
            Rule::Format(_) => self.leniencies.contains(Leniency::Formats),
            Rule::Unknown | Rule::Unavailable | Rule::OneOf(_) => {
                self.leniencies.contains(Leniency::UnknownValues)
            }
            _ => false,
        }
    }

    /// Compares `text` with what `value`, decoded from it, says at `revision`.
    // DEC-12
    fn compare(
        self,
        value: &dyn Encode,
        revision: Revision,
        text: &str,
        prefix: &str,
    ) -> Option<ErrorDetail> {
        let mut first = None;
        let mut sink = |difference: Difference| {
            let leniency = match difference.kind {
                DifferenceKind::Unknown => Leniency::UnknownMembers,
                DifferenceKind::Absent => Leniency::AbsentMembers,
                DifferenceKind::Fraction => Leniency::IntegralFloats,
                _ => Leniency::UnknownValues,
            };
            let pointer = format!("{prefix}{}", difference.pointer);
            if !self.forbids(leniency) || is_within_open(&pointer, revision) {
                return ControlFlow::Continue(());
            }
            let expected = match difference.kind {
                DifferenceKind::Unknown => "only members that the revision defines".to_owned(),
                DifferenceKind::Absent => format!("a member that {revision} requires"),
                DifferenceKind::Fraction => "an integer without a fraction".to_owned(),
                _ => format!("what {revision} has"),
            };
            let found = difference
                .found
                .map_or(jsonrpc::NOTHING.into(), jsonrpc::sized);
            first = Some(ErrorDetail::new(pointer, leniency.name(), expected, found));
            ControlFlow::Break(())
        };
        let _ = differences(value, text, revision, &mut sink);
        first
    }

    /// What becomes of `fault` under the policy.
    fn judge(
        self,
        fault: Option<ErrorDetail>,
        what: &str,
        revision: Revision,
    ) -> Result<(), ErrorDetail> {
        let Some(fault) = fault else {
            return Ok(());
        };
        if self.policy == Policy::Enforce {
            return Err(fault);
        }
        tracing::warn!(
            what,
            %revision,
            pointer = &*jsonrpc::shortened(&fault.pointer),
            rule = fault.rule,
            expected = &*fault.expected,
            found = &*fault.found,
            "a message that its revision does not allow was let in"
        );
        Ok(())
    }
}

/// The text of params; `{}` stands for absent ones, and for null.
pub(super) fn object_for(params: Option<&str>) -> &str {
    match params {
        None | Some("null") => "{}",
        Some(text) => text,
    }
}

fn unfit(fault: &ErrorDetail) -> DecodeError {
    let message = format!("expected {}, found {}", fault.expected, fault.found);
    DecodeError::new(&*fault.pointer, message)
}

/// Whether a whole result is of a kind that the revision does not have, such as one that asks for input in the legacy era.
/// The kind of a result decides what the caller does next, so [`Leniency::UnknownValues`](super::Leniency) does not cover it.
fn is_other_result(violation: &Violation, prefix: &str) -> bool {
    prefix.is_empty()
        && violation.pointer().is_empty()
        && matches!(violation.rule(), Rule::Unavailable)
}

/// Whether `pointer` is to a member of an object that may have any at `revision`, although a later one gave some of them a
/// meaning.
fn is_within_open(pointer: &str, revision: Revision) -> bool {
    const OPEN: [&str; 2] = [
        "/params/capabilities/sampling/",
        "/params/capabilities/elicitation/",
    ];
    revision < Revision::V2025_11_25 && OPEN.into_iter().any(|open| pointer.starts_with(open))
}
