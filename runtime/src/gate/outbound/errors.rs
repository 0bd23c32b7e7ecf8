//! The errors of authors, in the form that a revision allows.

use trueform_schema::{ErrorObject, Revision, rewrite};

use crate::{
    gate::codes::{self, Standing},
    jsonrpc,
};

/// Returns `error` in the form that `revision` allows. Authors may not send the codes that the protocol reserves: an error with such a code
/// becomes an internal error, and the details are logged.
pub(super) fn error_at(mut error: ErrorObject, revision: Revision) -> ErrorObject {
    let code = rewrite::error_code(error.code, revision);
    let standing = codes::standing(code, revision);
    let says_something = code == error.code || code != jsonrpc::code::INTERNAL_ERROR;
    if says_something
        && matches!(standing, Standing::Free | Standing::Defined)
        && codes::lacking(&error, revision).is_none()
    {
        error.code = code;
        return error;
    }
    tracing::error!(
        code = error.code,
        %revision,
        problem = &*error.message,
        "an error was held back: its code is reserved or of another revision, or its data is not what goes with the code"
    );
    jsonrpc::internal("internal error")
}

#[cfg(test)]
mod tests {
    use trueform_schema::Json;

    use super::*;

    //
    #[test]
    fn codes() {
        let told = |code, revision| error_at(ErrorObject::new(code, "m"), revision).code;
        for revision in Revision::ALL {
            assert_eq!(told(-32602, revision), -32602);
            assert_eq!(told(4000, revision), 4000);
            for reserved in [-32000, -32019, -32023, -32099, -32100, -32768] {
                assert_eq!(told(reserved, revision), -32603, "{reserved} at {revision}");
            }
        }
        assert_eq!(told(-32002, Revision::V2025_11_25), -32002);
        assert_eq!(told(-32002, Revision::V2026_07_28), -32602);
        // The data of a code of another revision has no meaning without the code.
        let visit = ErrorObject::new(-32042, "m")
            .with_data(Json::from(serde_json::json!({ "elicitations": [] })));
        let told = error_at(visit, Revision::V2026_07_28);
        assert_eq!(
            (told.code, &*told.message, told.data),
            (-32603, "internal error", None)
        );
        for (code, data, allowed) in [
            (
                -32042,
                serde_json::json!({ "elicitations": [] }),
                Revision::V2025_11_25,
            ),
            (
                -32021,
                serde_json::json!({ "requiredCapabilities": {} }),
                Revision::V2026_07_28,
            ),
            (
                -32022,
                serde_json::json!({ "supported": [], "requested": "x" }),
                Revision::V2026_07_28,
            ),
        ] {
            let error = ErrorObject::new(code, "m").with_data(Json::from(data));
            for revision in Revision::ALL {
                let expected = if revision == allowed { code } else { -32603 };
                assert_eq!(
                    error_at(error.clone(), revision).code,
                    expected,
                    "{code} at {revision}"
                );
            }
        }
    }

    // C-7, C-10, R-12
    #[test]
    fn data_that_does_not_go_with_its_code() {
        let url = serde_json::json!({ "mode": "url", "elicitationId": "e", "message": "m", "url": "https://example.com" });
        let with = |name: &str, value: serde_json::Value| {
            let mut url = url.clone();
            url[name] = value;
            serde_json::json!({ "elicitations": [url] })
        };
        let right = ErrorObject::new(-32042, "m").with_data(Json::from(with("mode", "url".into())));
        assert_eq!(error_at(right, Revision::V2025_11_25).code, -32042);
        for (code, revision, data) in [
            (-32042, Revision::V2025_11_25, serde_json::json!(null)),
            (
                -32042,
                Revision::V2025_11_25,
                serde_json::json!({ "elicitations": [{}] }),
            ),
            (
                -32042,
                Revision::V2025_11_25,
                with("url", "no address".into()),
            ),
            (
                -32042,
                Revision::V2025_11_25,
                with("elicitationId", 1.into()),
            ),
            (-32021, Revision::V2026_07_28, serde_json::json!({})),
            (
                -32021,
                Revision::V2026_07_28,
                serde_json::json!({ "requiredCapabilities": [] }),
            ),
            (
                -32022,
                Revision::V2026_07_28,
                serde_json::json!({ "supported": "x", "requested": "x" }),
            ),
            (
                -32022,
                Revision::V2026_07_28,
                serde_json::json!({ "supported": [] }),
            ),
        ] {
            let error = ErrorObject::new(code, "m").with_data(Json::from(data));
            assert_eq!(error_at(error.clone(), revision).code, -32603, "{error:?}");
            assert_eq!(
                error_at(ErrorObject::new(code, "m"), revision).code,
                -32603,
                "none at all"
            );
        }
    }
}
