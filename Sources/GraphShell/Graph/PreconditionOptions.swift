// Tests: ReadAtRevisionTests.swift
import ArgumentParser
import GraphJSON
import GraphModel

/// The options of a change that must not be made if another client has changed the object.
struct PreconditionOptions: ParsableArguments {
  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Write nothing if another client has changed the object since this revision.", valueName: "revision"))
  var ifRevision: Revision?
  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "With --if-revision: only changes of these properties count, separated by commas.", valueName: "names"))
  var ifUnchanged: String?

  func validate() throws {
    if let ifRevision, ifRevision < 1 {
      throw ValidationError("--if-revision must be at least 1, the revision of the first commit")
    }
    if ifUnchanged != nil, ifRevision == nil { throw ValidationError("--if-unchanged requires --if-revision") }
  }

  /// Checks the options against those that select the objects.
  func check(hasCondition: Bool) throws {
    if ifRevision != nil, hasCondition { throw ValidationError("--if-revision can't be used with --where") }
  }

  /// The condition for an object of an entity; nil for none.
  /// - Throws: a refusal for an unknown property, and for one that the objects do not store.
  func condition(on entity: Entity) throws -> Precondition? {
    guard let ifRevision else { return nil }
    guard let ifUnchanged else { return Precondition(revision: ifRevision) }
    let names = ifUnchanged.split(separator: ",", omittingEmptySubsequences: false)
    let properties = try names.map { name in
      let property: Property
      do {
        property = try PropertyInput.property(String(name), of: entity)
      } catch {
        throw Refusal(.malformed, "\(error)")
      }
      guard property.slot != nil else {
        throw Refusal(
          .malformed, "\(entity.name).\(property.name) is stored at its other end, so --if-unchanged can't name it")
      }
      return property.number
    }
    return Precondition(revision: ifRevision, properties: properties)
  }
}
