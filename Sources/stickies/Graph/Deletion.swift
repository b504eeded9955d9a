import GraphModel
import GraphWire
import StickiesKit

/// Who deleted an object, and when.
struct Deletion {
  let author: String
  let time: Timestamp
  let revision: Revision
  /// The commit that brought it back since.
  var revival: CommitEntry?

  var words: String {
    let back = revival.map { "; brought back by \($0.author), \(LocalTime.text($0.time)), revision \($0.revision)" }
    return "deleted by \(author), \(LocalTime.text(time)), revision \(revision)" + (back ?? "")
  }
}

extension Shell {
  /// Of a refusal that names more, the others are told without their times.
  static let deletionsLookedUp = 20

  /// The newest delete of an object, and the object as it was; nil where history does not know.
  func deletion(of id: ObjectID) async -> (Deletion, ObjectImage?)? {
    var request = LogRequest(limit: 1, filter: HistoryFilter(object: id.description))
    var revival: CommitEntry?
    // What has happened to it since it came back is passed over.
    for _ in 0..<Self.changesLookedThrough {
      guard let commit = (try? await client.log(request))?.first, let change = commit.changes.first else { return nil }
      if change.kind == .removed {
        let deletion = Deletion(
          author: commit.author, time: commit.time, revision: commit.revision, revival: revival)
        return (deletion, change.object)
      }
      if change.kind == .inserted { revival = commit }
      guard commit.revision > 1 else { return nil }
      request.through = commit.revision - 1
    }
    return nil
  }

  private static let changesLookedThrough = 100

  /// Why an object that a person names is not there: it was deleted. Nil where nothing says so.
  /// - Parameters:
  ///   - prefix: the beginning of its id.
  ///   - entity: what it would have to be.
  func refusalOfDeleted(_ prefix: String, of entity: Entity?) async -> Refusal? {
    let request = LogRequest(limit: 1, filter: HistoryFilter(object: prefix))
    guard let commit = (try? await client.log(request))?.first, let change = commit.changes.first,
      change.kind == .removed, let its = model.entity(change.id.entity), entity.map(its.isKind) ?? true
    else { return nil }
    return Refusal(
      .notFound,
      "this \(its.name) is deleted; stickies graph restore \(change.id.description.prefix(8)) brings it back",
      conflicts: [Conflict(kind: .deleted, id: change.id, author: commit.author, revision: commit.revision)])
  }
}
