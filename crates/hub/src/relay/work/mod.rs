//! Work for agents: they pull it with a lease, and finish it together with what they answer.
mod complete_work;
mod completion;
mod depths;
mod extend_work;
mod item;
mod life;
mod list_work;
mod pull_work;
mod release_work;
mod requeue_work;
mod route;
mod submit;
mod view;

pub use complete_work::CompleteWork;
pub use completion::{ActionWish, CompleteWorkOutput, RepliedView, Reply, SubmittedView};
pub use extend_work::ExtendWork;
pub use item::WorkItem;
pub use list_work::ListWork;
pub use pull_work::PullWork;
pub use release_work::ReleaseWork;
pub use requeue_work::RequeueWork;
pub use view::WorkView;

pub(crate) use depths::{count_dead, count_depths};
pub(crate) use life::reap;
