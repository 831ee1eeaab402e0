//! An agent that answers at once: agent PORT CAPACITY (how many tasks the store may hold).

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use a2a_protocol_server::builder::RequestHandlerBuilder;
use a2a_protocol_server::dispatch::RestDispatcher;
use a2a_protocol_server::executor::AgentExecutor;
use a2a_protocol_server::request_context::RequestContext;
use a2a_protocol_server::serve::serve;
use a2a_protocol_server::store::TaskStoreConfig;
use a2a_protocol_server::streaming::EventQueueWriter;
use a2a_protocol_types::error::A2aResult;
use a2a_protocol_types::events::{StreamResponse, TaskStatusUpdateEvent};
use a2a_protocol_types::task::{ContextId, TaskState, TaskStatus};

struct Agent;

impl AgentExecutor for Agent {
    fn execute<'a>(
        &'a self,
        context: &'a RequestContext,
        queue: &'a dyn EventQueueWriter,
    ) -> Pin<Box<dyn Future<Output = A2aResult<()>> + Send + 'a>> {
        Box::pin(async move {
            for state in [TaskState::Working, TaskState::Completed] {
                let update = TaskStatusUpdateEvent {
                    task_id: context.task_id.clone(),
                    context_id: ContextId::new(context.context_id.clone()),
                    status: TaskStatus::new(state),
                    metadata: None,
                };
                queue.write(StreamResponse::StatusUpdate(update)).await?;
            }
            Ok(())
        })
    }
}

#[tokio::main]
async fn main() {
    let words: Vec<String> = std::env::args().collect();
    let capacity = words[2].parse().expect("a number of tasks");
    let store = TaskStoreConfig {
        max_capacity: Some(capacity),
        ..TaskStoreConfig::default()
    };
    let handler = RequestHandlerBuilder::new(Agent)
        .with_task_store_config(store)
        .build()
        .expect("a handler");
    serve(
        format!("127.0.0.1:{}", words[1]),
        RestDispatcher::new(Arc::new(handler)),
    )
    .await
    .expect("a server");
}
