//! The names of what a proposal's message and its editor consist of. What is rendered with them comes
//! back with them when somebody uses it.

/// The button that approves a proposal as it stands. Its value, as that of every button, is the token.
pub(super) const ACTION_APPROVE: &str = "waystation_approve";
/// The button that opens the editor.
pub(super) const ACTION_EDIT: &str = "waystation_edit";
/// The button that opens the form for a remark.
pub(super) const ACTION_RESPOND: &str = "waystation_respond";
/// The button that says no.
pub(super) const ACTION_REJECT: &str = "waystation_reject";
/// The editor: `callback_id` of its view. Its `private_metadata` is the token.
pub(super) const VIEW_EDIT: &str = "waystation_view_edit";
/// The form for a remark: `callback_id` of its view. Its `private_metadata` is the token.
pub(super) const VIEW_REMARK: &str = "waystation_view_remark";
/// The block that the text is typed into, in the editor and in the form: its `block_id`, and the
/// `action_id` of its only element.
pub(super) const BLOCK_TEXT: &str = "waystation_text";
