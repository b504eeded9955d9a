// Tests: UnavailableCallTests.swift
import GraphModel

// Calls of Core Data and SwiftData that have another form here: the compiler's message says which. Those of contexts
// are in ObjectContext+Editing.swift.

extension ToMany {
  /// Not available: a relationship without an order has no end.
  @available(*, unavailable, renamed: "insert(_:)")
  public func append(_ object: Element) { insert(object) }
}

extension ManagedObject {
  /// Not available: an object is made in a context.
  @available(*, unavailable, message: "an object is made in a context: Person(in: client.context)")
  public convenience init() { preconditionFailure("an object is made in a context") }

  /// Not available: `Person(in: context)`.
  @available(*, unavailable, renamed: "init(in:)")
  public convenience init(context: ObjectContext) { self.init(in: context) }
}

// In the extension of a protocol, so that a class with a property of the same name hides it.
extension PathLoading {
  /// Not available: it is called `id`.
  @available(*, unavailable, renamed: "id")
  public var objectID: ObjectID { id }

  /// Not available: it is called `id`.
  @available(*, unavailable, renamed: "id")
  public var persistentModelID: ObjectID { id }

  /// Not available: it is called `context`.
  @available(*, unavailable, renamed: "context")
  public var managedObjectContext: ObjectContext { context }

  /// Not available: it is called `context`.
  @available(*, unavailable, renamed: "context")
  public var modelContext: ObjectContext { context }
}
