// Every generated type of the module; written by the test that reads it.

table! {
    CallToolOutcome
    CancelTaskRequestParams
    CancelTaskResult
    CreateTaskResult
    GetTaskRequestParams
    GetTaskResult
    TaskStatus
    TaskStatusNotificationParams
    TaskSubscriptionAcknowledgedNotifications
    TaskSubscriptionNotifications
    UpdateTaskRequestParams
    UpdateTaskResult
}
