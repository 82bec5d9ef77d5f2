//! What fuzzing has this package read: one function for each target in `fuzz/`, which takes any bytes, and checks more than
//! that nothing panics. Built for tests, and with the feature `fuzzing`.

mod archive;
mod buckets;
pub(crate) mod expressions;
mod files;
mod git_wire;
mod items;
mod moves;
mod numbers;
#[cfg(test)]
#[path = "../../../fuzz/play.rs"]
mod play;
mod rotas;
mod rows;
mod search;
mod texts;
mod workflow_expressions;
mod workflows;

pub use self::{
    archive::archive, buckets::buckets, expressions::expressions, files::files, git_wire::git_wire, items::items,
    moves::moves, numbers::numbers, rotas::rotas, rows::rows, search::search, texts::texts,
    workflow_expressions::workflow_expressions, workflows::workflows,
};

#[cfg(test)]
mod tests {
    use super::{play::play, *};

    #[test]
    fn archives_hold() {
        play("archive", archive);
    }

    #[test]
    fn buckets_hold() {
        play("buckets", buckets);
    }

    #[test]
    fn expressions_hold() {
        play("expressions", expressions);
    }

    #[test]
    fn files_hold() {
        play("files", files);
    }

    #[test]
    fn what_git_sends_holds() {
        play("git_wire", git_wire);
    }

    #[test]
    fn items_hold() {
        play("items", items);
    }

    #[test]
    fn moves_hold() {
        play("moves", moves);
    }

    #[test]
    fn numbers_hold() {
        play("numbers", numbers);
    }

    #[test]
    fn rotas_hold() {
        play("rotas", rotas);
    }

    #[test]
    fn rows_hold() {
        play("rows", rows);
    }

    #[test]
    fn searches_hold() {
        play("search", search);
    }

    #[test]
    fn texts_hold() {
        play("texts", texts);
    }

    #[test]
    fn expressions_of_workflows_hold() {
        play("workflow_expressions", workflow_expressions);
    }

    #[test]
    fn workflows_hold() {
        play("workflows", workflows);
    }
}
