import ArgumentParser
import Foundation
import GraphModel
import GraphStoreTools

/// `--on OBJECT`
struct ScopeOption: ParsableArguments {
  @Option(name: .customLong("on"), help: ArgumentHelp("The scope: \(ObjectName.forms).", valueName: "object"))
  var object: String?

  func validate() throws {
    if let object { try ObjectName.check(object) }
  }

  /// The scope; nil for the complete store.
  func scope(_ flags: StoreFlags) async throws -> UniqueID? {
    guard let object else { return nil }
    return try await ObjectName(object).key(flags)
  }
}

/// The name of an object on the command line: its complete id, or for a container also its name, such as `Board:Plans`.
struct ObjectName {
  static let forms = "the name of a container, such as Board:Plans, or the complete id of an object"

  private let text: String

  init(_ text: String) { self.text = text }

  /// The entity and the name; nil for an id.
  private var parts: (entity: String, name: String)? {
    guard UniqueID(text) == nil, let colon = text.firstIndex(of: ":") else { return nil }
    return (String(text[..<colon]), String(text[text.index(after: colon)...]))
  }

  static func check(_ text: String) throws {
    if UniqueID(text) != nil { return }
    guard let parts = ObjectName(text).parts, !parts.entity.isEmpty, !parts.name.isEmpty else {
      throw ValidationError(
        "\"\(text.excerpt)\" is neither a container's name, such as Board:Plans, nor a complete id, which has "
          + "\(UniqueID.textLength) characters; stickies shows it with --json")
    }
  }

  /// The time for which a command waits for an object that is not in the database file yet. A running daemon writes its
  /// commits to the file when it has had no commit for a second.
  private static let patience = Duration.seconds(3)

  /// The key of the object; an id is not looked up.
  /// - Throws: `Refusal` if no container has the name.
  func key(_ flags: StoreFlags) async throws -> UniqueID {
    if let key = UniqueID(text) { return key }
    guard let (entity, name) = parts else { throw ValidationError("the object's name was checked") }
    let settings = try await flags.settings()
    let model = try ModelSource.load(folder: settings.schema, forStoreAt: settings.storePath)
    let property = try Self.name(of: entity, model)
    let deadline = ContinuousClock.now + Self.patience
    while true {
      let stored = try StoredObject(with: name, for: property, directory: settings.data, model: model)
      if let image = stored.image { return image.id.key }
      guard ContinuousClock.now < deadline else {
        throw Refusal(
          .notFound,
          "there is no \(entity) called \"\(name.excerpt)\" at revision \(stored.revision): names are compared letter "
            + "by letter")
      }
      try await Task.sleep(for: .milliseconds(100))
    }
  }

  /// The property with the names of containers of an entity: its unique key of one text.
  private static func name(of entityName: String, _ model: Model) throws -> Property {
    let containers = model.entities.filter { $0.scope == .container && !$0.isAbstract }.map(\.name)
    guard let entity = model.entity(named: entityName), entity.scope == .container else {
      throw Refusal(
        .notFound,
        "\"\(entityName.excerpt)\" is not a container of the model \(model.name); "
          + (containers.isEmpty ? "it has none" : "there is \(containers.joined(separator: ", "))"))
    }
    guard let property = entity.scopeName(in: model) else {
      throw Refusal(.notFound, "\(entity.name) has no unique name: give the complete id of the object")
    }
    return property
  }
}
