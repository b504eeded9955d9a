import CommandLineIO
import GraphClient
import GraphModel
import GraphWire

/// The delete of an object: author, time and revision.
struct Deletion {
  let author: String
  let time: Timestamp
  let revision: Revision
  /// The later commit that restored the object.
  var revival: CommitEntry?

  var words: String {
    let deletion = "deleted by \(author), \(LocalTime.text(time)), revision \(revision)"
    guard let revival else { return deletion }
    return deletion
      + "; brought back by \(revival.author), \(LocalTime.text(revival.time)), revision \(revival.revision)"
  }
}

/// Finds the delete of an object in history.
@MainActor
struct DeletionFinder {
  private let client: GraphClient
  private let model: Model
  private let program: any ShellProgram
  private let seesPart: Bool

  init(_ shell: CommandContext) {
    (client, model, program) = (shell.client, shell.model, shell.output.program)
    seesPart = shell.seesPart
  }

  /// Maximum number of objects in a refusal whose deletes are looked up.
  static let deletionsLookedUp = 20

  /// The newest delete of an object, with its last image; nil if history does not have it.
  func deletion(of id: ObjectID) async -> (Deletion, ObjectImage?)? {
    var request = LogRequest(limit: 1, filter: HistoryFilter(object: id.description))
    var revival: CommitEntry?
    // Skips changes after a restore.
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

  /// Whether the user may know that an object was deleted. For a user who sees a part of the graph, the history of an
  /// object that has moved out of sight ends in the same way; but the origin of its values is unknown, unlike that of
  /// a deleted object.
  private func knowsDeletion(of id: ObjectID) async -> Bool {
    guard let property = model.entity(id.entity)?.storedProperties.first(where: { !$0.isHidden }) else { return false }
    do {
      return try await client.why(property, of: id).deletion != nil
    } catch {
      return false
    }
  }

  /// The refusal for an object that was deleted; nil if history does not contain its delete.
  /// - Parameters:
  ///   - prefix: the beginning of its id.
  ///   - entity: the expected entity.
  func refusal(_ prefix: String, of entity: Entity?) async -> Refusal? {
    let request = LogRequest(limit: 1, filter: HistoryFilter(object: prefix))
    guard let commit = (try? await client.log(request))?.first, let change = commit.changes.first,
      change.kind == .removed, let its = model.entity(change.id.entity), entity.map(its.isKind) != false
    else { return nil }
    if seesPart, await !knowsDeletion(of: change.id) {
      return Refusal(
        .notFound,
        "this \(its.name) is not there for you since revision \(commit.revision): you have no role where it is now")
    }
    return Refusal(
      .notFound,
      "this \(its.name) is deleted; \(program.name) graph restore \(change.id.description.prefix(8)) brings it back",
      conflicts: [Conflict(kind: .deleted, id: change.id, author: commit.author, revision: commit.revision)])
  }
}
