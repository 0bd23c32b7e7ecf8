const TOOLS: ToolSet = tools![add, #[cfg(feature = "files")] files::remove, add];
