//! A server with one tool for each feature of tools, one prompt for each kind of message, and resources of each kind. CI runs the
//! official conformance suite and public clients against it.
//!
//! It serves standard input and output; with `--http 127.0.0.1:8000` it serves `http://127.0.0.1:8000/mcp`. With `--page-size 10` as the
//! first argument, lists have pages of ten items. The suite defines the names, texts and schemas of the `test_…` tools. It also depends
//! on their order: it calls the first tool of the list without arguments, and the first tool that has an `x-mcp-header` with a header.

mod answers;
mod ask;
mod jobs;
mod more;
mod prompts;
mod resources;
mod rounds;
mod schemas;
mod skills;
#[cfg(test)]
mod tests;
mod work;

use trueform::prelude::*;

fn server() -> Server {
    Server::new("everything", env!("CARGO_PKG_VERSION"))
        .title("Everything")
        .instructions(
            "For tests of clients: each tool, prompt and resource shows one thing that it can do.",
        )
        .state(work::CancelledCalls::default())
        .tools(tools![
            answers::test_simple_text,
            answers::add,
            answers::test_image_content,
            answers::test_audio_content,
            answers::test_embedded_resource,
            answers::test_multiple_content_types,
            answers::test_error_handling,
            work::test_tool_with_logging,
            work::test_logging_tool,
            work::test_tool_with_progress,
            work::test_reconnection,
            work::wait_for_cancel,
            work::cancelled_calls,
            work::test_trigger_tool_change,
            prompts::test_trigger_prompt_change,
            resources::test_trigger_resource_update,
            ask::test_sampling,
            ask::test_elicitation,
            ask::test_elicitation_sep1034_defaults,
            ask::test_elicitation_sep1330_enums,
            ask::test_missing_capability,
            ask::test_streaming_elicitation,
            rounds::test_input_required_result_elicitation,
            rounds::test_input_required_result_sampling,
            rounds::test_input_required_result_list_roots,
            rounds::test_input_required_result_request_state,
            rounds::test_input_required_result_tampered_state,
            rounds::test_input_required_result_multiple_inputs,
            rounds::test_input_required_result_multi_round,
            rounds::test_input_required_result_capabilities,
            rounds::ask_url,
            jobs::greet,
            jobs::slow_compute,
            jobs::failing_job,
            jobs::protocol_error_job,
            jobs::confirm_delete,
            jobs::multi_input,
            jobs::test_tool_with_task,
            more::touch_resource,
            more::sample_with_tools,
            schemas::test_header,
        ])
        .tools(schemas::json_schema_2020_12_tool())
        .prompts(prompts![
            prompts::test_simple_prompt,
            prompts::test_prompt_with_arguments,
            prompts::test_prompt_with_embedded_resource,
            prompts::test_prompt_with_image,
            rounds::test_input_required_result_prompt,
            more::pick_number,
        ])
        .resources(resources![
            resources::static_text,
            resources::static_binary,
            resources::watched_resource,
            resources::template_data,
            rounds::asks_first,
        ])
        .with(skills::skills())
}

#[tokio::main]
async fn main() -> trueform::Result {
    let mut arguments = std::env::args().skip(1).peekable();
    let mut server = server();
    if arguments.next_if(|first| first == "--page-size").is_some() {
        let size = arguments.next().and_then(|size| size.parse().ok());
        let Some(size) = size.filter(|&size| size > 0) else {
            let problem = "`--page-size` needs a number of items, at least 1";
            return Err(trueform::Error::other(std::io::Error::other(problem)));
        };
        server = server.page_size(size);
    }
    server.run_with(arguments).await
}
