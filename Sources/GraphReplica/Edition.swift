import GraphModel

/// Rises with every change of any object of a context, and tells the context's trackers whose it was.
final class Edition {
  private(set) var number = 1
  private var trackers = [WeakTracker]()

  private struct WeakTracker {
    weak var tracker: ChangeTracker?
  }

  func add(_ tracker: ChangeTracker) {
    trackers.removeAll { $0.tracker == nil }
    trackers.append(WeakTracker(tracker: tracker))
  }

  func advance(_ id: ObjectID) {
    number += 1
    for entry in trackers { entry.tracker?.add(id) }
  }
}

/// Which objects may read otherwise than they did: whoever keeps what was read of objects, so as not to read it again for
/// every picture, drops what is named here. An edit counts, a rollback, a commit of others, an answer, a fault that loads,
/// an object that goes or gets its permanent id; an object may be named that reads as before. Each is named once, however
/// often it changed.
///
/// It belongs to the context's actor, and counts for as long as somebody holds it.
public final class ChangeTracker {
  private var ids = Set<ObjectID>()

  /// Whether nothing has changed since `take`.
  public var isEmpty: Bool { ids.isEmpty }

  /// What has changed since the last call, or since the tracker was made.
  public func take() -> Set<ObjectID> {
    defer { ids = [] }
    return ids
  }

  func add(_ id: ObjectID) { ids.insert(id) }
}

extension ObjectContext {
  /// A tracker that names every object of this context that changes from now on; in a child also those of the contexts
  /// that it reads through.
  public func trackChanges() -> ChangeTracker {
    let tracker = ChangeTracker()
    var context: ObjectContext? = self
    while let here = context {
      here.edition.add(tracker)
      context = here.parent
    }
    return tracker
  }
}
