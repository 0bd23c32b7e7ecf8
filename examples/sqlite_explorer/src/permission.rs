//! What a statement may do. SQLite asks for each action while it prepares the statement.

use rusqlite::hooks::AuthAction;

use crate::functions;

/// What a call may do with the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// Read it.
    Read,
    /// Read it and write to it.
    Write,
}

/// Pragmas that describe a part of the database, which is their argument.
const DESCRIBING: [&str; 8] = [
    "foreign_key_check",
    "foreign_key_list",
    "index_info",
    "index_list",
    "index_xinfo",
    "table_info",
    "table_list",
    "table_xinfo",
];

/// Pragmas that read a setting without an argument, and change it with one. `database_list` is not among them: it shows paths.
const SETTINGS: [&str; 8] = [
    "application_id",
    "auto_vacuum",
    "encoding",
    "foreign_keys",
    "freelist_count",
    "page_count",
    "page_size",
    "user_version",
];

/// Statements that work on another file, and why they are refused.
pub(crate) const OTHER_FILES: &str =
    "ATTACH, DETACH and VACUUM, because this server works on one file only";

/// Why the `action` is refused; `None` if it is allowed.
pub(crate) fn refusal(action: &AuthAction<'_>, access: Access) -> Option<String> {
    match *action {
        AuthAction::Select | AuthAction::Read { .. } | AuthAction::Recursive => None,
        // The only function that accesses other files, and those that the time limit does not stop.
        AuthAction::Function { function_name } => ["load_extension"]
            .iter()
            .chain(&functions::REFUSED)
            .find(|name| function_name.eq_ignore_ascii_case(name))
            .map(|name| format!("the function {name}")),
        AuthAction::Pragma {
            pragma_name: name,
            pragma_value: value,
        } => {
            let is_one_of = |names: &[&str]| names.iter().any(|one| name.eq_ignore_ascii_case(one));
            let allowed = is_one_of(&DESCRIBING) || (is_one_of(&SETTINGS) && value.is_none());
            (!allowed).then(|| {
                format!(
                    "PRAGMA {name}; pragmas that describe are ({}), and those that read a setting ({})",
                    DESCRIBING.join(", "),
                    SETTINGS.join(", ")
                )
            })
        }
        AuthAction::Attach { .. } | AuthAction::Detach { .. } => Some(OTHER_FILES.to_owned()),
        AuthAction::Transaction { .. } | AuthAction::Savepoint { .. } => {
            Some("transactions, because each call is one statement on its own".to_owned())
        }
        AuthAction::Unknown { code, .. } => Some(format!("the unknown action {code}")),
        _ if access == Access::Write => None,
        _ => Some("statements that write; this tool only reads".to_owned()),
    }
}
