// Tests: UnloadedReadTests.swift
import GraphModel

/// A read of a value that the context does not hold: a programming error.
///
/// Only the members of generated classes report it, because they can't return "not known". `value(_:)` and the
/// subscript by name are for programs that check `isFault` and `isLoaded` themselves.
public struct UnloadedReadError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The object that was read.
  public let id: ObjectID
  /// The name of its entity.
  public let entity: String
  /// The name of the property.
  public let property: String
  /// Whether the object is known, and only the members of this to-many are not.
  public let isRelationship: Bool

  public var description: String {
    isRelationship
      ? "the members of \(entity).\(property) were read before they were loaded: prefetch them, or await load() of the "
        + "relationship"
      : "\(entity).\(property) was read of a fault: await load() of the object before"
  }
}

/// The closures that receive a program's errors instead of trapping.
struct MisuseHandlers {
  var editWasRefused: ((ReadOnlyContextError) -> Void)?
  var unloadedWasRead: ((UnloadedReadError) -> Void)?
}
