import GraphControllers
import GraphModel
import GraphReplica
import StickiesKit

/// All tags, live, sorted by name: suggestions for tagging and filtering. They are fetched when first needed. Updates
/// are read from an async sequence: many commits arrive as one update with one difference.
final class TagNames {
  /// Maximum number of suggested tags. If there are more, none is suggested, and names can still be typed.
  static let maximumTags = 2_000

  /// The names of the loaded tags, in order.
  private(set) var all = [String]()
  /// Called with the difference when the tags have changed; with nil for the first result.
  var didChange: (ResultsDifference?) -> Void = { _ in }
  /// Called when the tags could not be loaded.
  var didFail: (Refusal) -> Void = { _ in }
  private let tags: ResultsController
  private let context: ObjectContext
  private let read: BoardConnection.UpdateReader
  private var objects = [ByteKey: Tag]()

  init(in context: ObjectContext, link: BoardConnection) {
    guard var request = ResultsRequest(Tag.self, in: context.model, sort: [\.name.ascending]) else {
      preconditionFailure("the built-in model has no Tag")
    }
    request.maximumCount = Self.maximumTags
    (self.context, read) = (context, link.read)
    tags = ResultsController(request, in: context)
  }

  /// Fetches the tags unless they are loaded, also again after a failure. They arrive in a later turn.
  func ask() {
    switch tags.state {
    case .fetching, .loaded: return
    case .idle, .failed: break
    }
    tags.performFetch()
    read(tags.updates.makeAsyncIterator(), { [weak self] in self?.receive($0) }, { [weak self] in self?.fail($0) })
  }

  /// The tag with a name; nil if there is none, or if the tags have not been fetched.
  subscript(name: String) -> Tag? { objects[name].flatMap { $0.isDeleted ? nil : $0 } }

  private func receive(_ update: ResultsUpdate) {
    let there = update.snapshot.compactMap { context.fault($0) as? Tag }
    objects = Dictionary(there.map { (ByteKey($0.name), $0) }) { first, _ in first }
    all = there.map(\.name)
    didChange(update.difference)
  }

  private func fail(_ refusal: Refusal) {
    // The messages of other limits are clear already.
    guard refusal == Replica.tooMany(Self.maximumTags) else { return didFail(refusal) }
    didFail(Refusal(.limit, "there are more than \(Self.maximumTags) tags; none of them is listed"))
  }
}
