import GraphModel
import GraphReplica
import StickiesKit

/// Decides what the user may do on the boards, by its roles and the rules of the model. Commands that the server would
/// refuse are disabled. The server checks each change anyway, with the changes that other users have made meanwhile.
final class BoardRights {
  private let model: Model
  /// The rights of the last connection; nil if the user may do everything.
  private let present: () -> Rights?
  /// The rights that the judge has.
  private var judged: Rights?
  private var judge: AccessJudge?

  init(_ model: Model, _ present: @escaping () -> Rights?) { (self.model, self.present) = (model, present) }

  /// The judge of the present rights; nil if everything is allowed.
  private func currentJudge() -> AccessJudge? {
    let rights = present()
    if rights != judged || judge == nil, let rights { judge = AccessJudge(rights, model: model) }
    judged = rights
    return rights == nil ? nil : judge
  }

  /// Whether the user sees a part of the graph only.
  var seesPart: Bool { present().map { Visibility($0, model: model) != nil } == true }

  /// The user's role on a board; nil for none. A user who may do everything is an owner.
  func role(on board: ObjectID) -> Role? {
    guard let rights = present() else { return .owner }
    return rights.role(in: board.key)
  }

  /// The reason why the user may not perform an operation on a note; nil if it is allowed. An insert means a new object
  /// beside the note, on its board.
  func refusal(_ operation: AccessRules.Operation, of note: Note) -> String? {
    // A note that was just made here has no creator yet.
    guard let judge = currentJudge(), !note.isDeleted, !note.id.isTemporary else { return nil }
    let image = self.image(note.id) { note.value($0.number) }
    switch operation {
    case .read: return nil
    case .insert: return note.board.flatMap { refusalOfNewNote(on: $0) }
    case .update: return judge.missingUpdate(of: image)?.message
    case .delete: return judge.missingRight(before: image, after: nil, changed: [])?.message
    }
  }

  /// The reason why the user may not make a note on a board; nil if it is allowed.
  func refusalOfNewNote(on board: Board) -> String? {
    guard let judge = currentJudge(), !board.isDeleted else { return nil }
    let entity = model.builtIn(Note.self)
    let (home, creator) = (model.property(Note.self, \.board), model.property(Note.self, \.creator))
    let new = image(.temporary(1, entity: entity.number)) { property in
      switch property.number {
      case home.number: .object(board.id)
      case creator.number: .string(judge.rights.user)
      default: (property.attribute?.defaultValue).orNull
      }
    }
    return judge.missingRight(before: nil, after: new, changed: [])?.message
  }

  private func image(_ id: ObjectID, _ value: (Property) -> Value) -> ObjectImage {
    ObjectImage(id: id, revision: 0, values: model.builtIn(Note.self).storedProperties.map(value))
  }
}
