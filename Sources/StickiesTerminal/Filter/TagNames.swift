import GraphControllers
import GraphModel
import GraphReplica
import StickiesKit

/// All tags, live, by name: what is offered where somebody files notes or filters. They are asked for when they are needed
/// for the first time, and read one state after another: of many commits only the last one is shown, with one difference.
final class TagNames {
  /// Of more none is offered; whoever knows a name can type it.
  static let maximumTags = 2_000

  /// Those that are here, in their order.
  private(set) var all = [String]()
  /// Tags came, went or changed, by this difference; nil for the first that are here.
  var didChange: (ResultsDifference?) -> Void = { _ in }
  /// They can't be had.
  var didFail: (Refusal) -> Void = { _ in }
  private let tags: ResultsController
  private let context: ObjectContext
  private let read: BoardLink.Reading
  private var objects = [ByteKey: Tag]()

  init(in context: ObjectContext, link: BoardLink) {
    guard var request = ResultsRequest(Tag.self, in: context.model, sort: [\.name.ascending]) else {
      preconditionFailure("the built-in model has no Tag")
    }
    request.maximumCount = Self.maximumTags
    (self.context, read) = (context, link.read)
    tags = ResultsController(request, in: context, perform: link.perform)
  }

  /// Somebody needs them: asks, and after a failure asks again. What is not here comes with a later turn.
  func ask() {
    switch tags.state {
    case .fetching, .loaded: return
    case .idle, .failed: break
    }
    tags.performFetch()
    read(tags.updates.makeAsyncIterator(), { [weak self] in self?.take($0) }, { [weak self] in self?.fail($0) })
  }

  /// The tag of a name; nil when there is none, or nobody has asked for any yet.
  subscript(name: String) -> Tag? { objects[name].flatMap { $0.isDeleted ? nil : $0 } }

  private func take(_ update: ResultsUpdate) {
    let there = update.snapshot.compactMap { context.fault($0) as? Tag }
    objects = Dictionary(there.map { (ByteKey($0.name), $0) }) { first, _ in first }
    all = there.map(\.name)
    didChange(update.difference)
  }

  private func fail(_ refusal: Refusal) {
    // Any other limit speaks for itself.
    guard refusal == Replica.tooMany(Self.maximumTags) else { return didFail(refusal) }
    didFail(Refusal(.limit, "there are more than \(Self.maximumTags) tags; none of them is offered"))
  }
}
