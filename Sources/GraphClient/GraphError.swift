// Tests: GraphErrorTests.swift
import GraphModel
import GraphReplica
import GraphWire

/// The kinds of failure that a program reacts to, with the names of properties and a sentence for people.
///
/// Requests throw the server's `Refusal`, a `ConnectFailure`, a syntax error of a text, or a `CancellationError`. A
/// client turns each of them into a kind: `client.kind(of: error)` returns it, and `client.attempt { … }` throws it.
public enum GraphError: Error, Hashable, Sendable {
  /// Other authors changed the same values, or deleted the object. Nothing was saved, and the edits are unsaved again.
  case conflict([ConflictingValue], authors: [String])
  /// Values break rules of the model.
  case invalid([Violation])
  /// Other objects have the same values of a unique key.
  case notUnique([Violation])
  /// A delete rule denies the delete as long as these objects refer to the deleted one.
  case denied(by: [ObjectID])
  /// The object, commit or name does not exist, or history no longer has it. The text is a sentence.
  case notFound(String)
  /// The server does not accept such a request: it can't be read, exceeds a limit, comes from a client of another model
  /// or without the permission, or undoes a step that is undone already. Repeating it has no effect. The text is a
  /// sentence.
  case notAllowed(String)
  /// There is no server, no connection, or the store accepts no commits at the moment. The text is a sentence.
  case unavailable(String)
  /// The task was cancelled.
  case cancelled

  /// A value that another author changed, or an object that another author deleted.
  public struct ConflictingValue: Hashable, Sendable {
    /// The kind of conflict; `deleted` if the author deleted the object, which no edit brings back.
    public var kind: Conflict.Kind
    /// The object.
    public var object: ObjectID
    /// The name of the object's entity.
    public var entity: String
    /// The name of the property; nil if the conflict is about the object as a whole.
    public var property: String?
    /// The value that was to be saved; null for a delete. `mine.text` shows it, and `Int(mine)`,
    /// `Date(mine)` or `Status(mine)` is the value of a class's property.
    public var mine: Value
    /// The server's value.
    public var theirs: Value
    /// The author of the server's value; empty if history no longer has the commit.
    public var author: String
    /// The revision of the author's commit; 0 if it is unknown.
    public var revision: Revision
  }

  /// A broken rule of the model.
  public struct Violation: Hashable, Sendable {
    /// The object; a temporary id if it was to be inserted.
    public var object: ObjectID
    /// The name of the object's entity.
    public var entity: String
    /// The names of the properties: usually one; several for a key of several properties, none if the rule is about the
    /// object.
    public var properties: [String]
    /// The name of a `Violation.CommonRule` of GraphModel, or of a rule of the model.
    public var rule: String
    /// The value that breaks the rule.
    public var value: Value
    /// A message for a person, without contents.
    public var message: String
  }
}

// MARK: - From the errors of requests

extension GraphError {
  /// The kind of an error that a client throws; nil for any other error.
  /// - Parameter model: names the properties.
  public init?(_ error: any Error, in model: Model) {
    switch error {
    case let error as GraphError: self = error
    case let refusal as Refusal: self.init(refusal, in: model)
    case let failure as ConnectFailure: self = .unavailable("\(failure)")
    case let failure as SecurityFailure: self = .notAllowed("\(failure)")
    case is CancellationError: self = .cancelled
    case let mistake as PredicateSyntaxError: self = .notAllowed("\(mistake)")
    case let mistake as FetchSyntaxError: self = .notAllowed("\(mistake)")
    case let mismatch as RowValueError: self = .notAllowed("\(mismatch)")
    default: return nil
    }
  }

  /// The kind of a refusal.
  /// - Parameter model: names the properties.
  public init(_ refusal: Refusal, in model: Model) {
    let violations = refusal.violations.map { Violation($0, in: model) }
    switch refusal.code {
    // There is nothing to do, as with a step that is undone already; only the sentence says what.
    case .conflict where refusal.conflicts.isEmpty && violations.isEmpty: self = .notAllowed(refusal.message)
    case .conflict:
      let values = refusal.conflicts.map { ConflictingValue($0, in: model) }
      var authors = [String]()
      for value in values where !value.author.isEmpty && !authors.contains(value.author) {
        authors.append(value.author)
      }
      self = .conflict(values, authors: authors)
    case .invalid: self = .invalid(violations)
    case .unique: self = .notUnique(violations)
    case .denied:
      var objects = [ObjectID]()
      var seen = Set<ObjectID>()
      for id in refusal.violations.flatMap(\.value.objectIDs) where seen.insert(id).inserted { objects.append(id) }
      self = .denied(by: objects)
    case .notFound, .pruned: self = .notFound(refusal.message)
    case .malformed, .limit, .notAllowed: self = .notAllowed(refusal.message)
    case .unavailable: self = .unavailable(refusal.message)
    case .cancelled: self = .cancelled
    }
  }
}

extension GraphError.ConflictingValue {
  fileprivate init(_ conflict: Conflict, in model: Model) {
    self.init(
      kind: conflict.kind, object: conflict.id, entity: model.name(ofEntity: conflict.id.entity),
      property: model.property(conflict.property)?.name, mine: conflict.mine, theirs: conflict.theirs,
      author: conflict.author, revision: conflict.revision)
  }
}

extension GraphError.Violation {
  fileprivate init(_ violation: Violation, in model: Model) {
    let numbers = [violation.property] + violation.others.map(\.property)
    self.init(
      object: violation.id, entity: model.name(ofEntity: violation.id.entity),
      properties: numbers.compactMap { model.property($0)?.name }, rule: violation.rule, value: violation.value,
      message: violation.message)
  }
}

extension Model {
  /// The name of an entity, for messages; an entity that only the server's model has is named by its number.
  fileprivate func name(ofEntity number: EntityNumber) -> String {
    if let entity = entity(number) { entity.name } else { "entity \(number)" }
  }
}

// MARK: - Sentences

extension GraphError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .conflict(let values, _): Self.sentence(values)
    case .invalid(let violations), .notUnique(let violations): Self.sentence(violations)
    case .denied(let objects):
      objects.count == 1
        ? "the object can't be deleted: another object refers to it; delete or change that object first"
        : "the object can't be deleted: \(objects.count) objects refer to it; delete or change them first"
    case .notFound(let sentence), .notAllowed(let sentence), .unavailable(let sentence): sentence
    case .cancelled: "the request was cancelled"
    }
  }

  /// The number of names or messages in a sentence.
  private static let namedCount = 5

  /// Names each author's changes and the remedy. An edit never revives a deleted object, so that
  /// repeating it would have no effect.
  private static func sentence(_ values: [ConflictingValue]) -> String {
    var authors = [String]()
    for value in values where !authors.contains(value.author) { authors.append(value.author) }
    let clauses = authors.map { author in clause(author, values.filter { $0.author == author }) }
    let what = clauses.isEmpty ? "another client made other changes" : list(clauses, " and ")
    let isOnlyDeleted = !values.isEmpty && values.allSatisfy { $0.kind == .deleted }
    let advice =
      isOnlyDeleted
      ? "no edit brings it back: discard the edits, or restore it and repeat them"
      : "fetch again and repeat the edit, or save under another policy"
    return "\(what) meanwhile; \(advice)"
  }

  /// Names the changes of one author, such as "bob changed title of Project and deleted Step".
  private static func clause(_ author: String, _ values: [ConflictingValue]) -> String {
    var (changed, deleted) = ([String](), [String]())
    for value in values {
      let subject = if let property = value.property { "\(property) of \(value.entity)" } else { value.entity }
      if value.kind == .deleted {
        if !deleted.contains(subject) { deleted.append(subject) }
      } else if !changed.contains(subject) {
        changed.append(subject)
      }
    }
    let verbs = [("changed", changed), ("deleted", deleted)].filter { !$0.1.isEmpty }
      .map { "\($0) \(list($1))" }.joined(separator: " and ")
    return "\(author.isEmpty ? "another client" : author) \(verbs)"
  }

  private static func sentence(_ violations: [Violation]) -> String { list(violations.map(\.message)) }

  private static func list(_ parts: [String], _ separator: String = ", ") -> String {
    let more = parts.count - namedCount
    return parts.prefix(namedCount).joined(separator: separator) + (more > 0 ? " and \(more) more" : "")
  }
}

// MARK: - Of a client

extension GraphReader {
  /// The kind of an error that a request threw, with the names of this client's model; nil for an error of another
  /// library.
  public func kind(of error: any Error) -> GraphError? { GraphError(error, in: context.model) }

  /// Runs requests, and throws their errors by kind, so that a `catch` matches them. Other errors are thrown as they
  /// are.
  ///
  /// ```swift
  /// do {
  ///   try await client.attempt { try await client.save() }
  /// } catch GraphError.conflict(let values, let authors) {
  ///   ask(values, authors)
  /// } catch GraphError.invalid(let violations) {
  ///   mark(violations.flatMap(\.properties))
  /// }
  /// ```
  @discardableResult
  public func attempt<Result>(_ body: () async throws -> Result) async throws -> Result {
    do {
      return try await body()
    } catch {
      throw kind(of: error) ?? error
    }
  }
}
