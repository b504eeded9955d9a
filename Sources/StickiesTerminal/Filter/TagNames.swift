import GraphControllers
import GraphModel
import GraphReplica
import StickiesKit

/// All tags, live, by name: what is offered where somebody files notes or filters. They are asked for when they are needed
/// for the first time.
final class TagNames: ResultsControllerDelegate {
  private let tags: ResultsController
  private let context: ObjectContext
  private var objects = [String: Tag]()
  private var sorted = [String]()

  init(in context: ObjectContext, perform: @escaping () -> Void) {
    guard let request = ResultsRequest(Tag.self, in: context.model, sort: [\.name.ascending]) else {
      preconditionFailure("the built-in model has no Tag")
    }
    self.context = context
    tags = ResultsController(request, in: context, perform: perform)
    tags.delegate = self
  }

  /// Those that are here, in their order; of the others more come with a later turn.
  var all: [String] {
    tags.performFetch()
    return sorted
  }

  /// The tag of a name; nil when there is none, or nobody has asked for any yet.
  subscript(name: String) -> Tag? { objects[name].flatMap { $0.isDeleted ? nil : $0 } }

  func resultsDidChange(_ controller: ResultsController, by difference: ResultsDifference) {
    let there = controller.snapshot.compactMap { context.fault($0) as? Tag }
    objects = Dictionary(there.map { ($0.name, $0) }) { first, _ in first }
    sorted = there.map(\.name)
  }
}
