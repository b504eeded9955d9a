/// A question that the model names: which objects of an entity, in which order, with room for values that come when it
/// is asked.
public struct FetchTemplate: Hashable, Sendable {
  /// Unique in the model, case aside.
  public let name: String
  public let documentation: String
  /// Objects of this entity and of all that inherit from it.
  public let entity: EntityNumber
  /// The text of the predicate, with `$name` for what comes later; empty for every object.
  public let predicate: String
  /// As `[SortKey](parsing:entity:)` reads it; empty for the order of the ids.
  public let sort: String
  /// Nil for all of them.
  public let limit: Int?
  /// The names after `$` in the predicate, each once, in the order in which they come.
  public let variables: [String]

  /// The variables of a predicate's text; a `$` within a string is a character like any other.
  static func variables(in text: String) -> [String] {
    var names = [String]()
    var quote: UInt8?
    var name: [UInt8]?
    var isEscaped = false
    func isPart(_ byte: UInt8) -> Bool {
      (0x61...0x7A).contains(byte | 0x20) || (0x30...0x39).contains(byte) || byte == UInt8(ascii: "_")
    }
    for byte in Array(text.utf8) + [0x20] {
      if let open = name {
        if isPart(byte) {
          name = open + [byte]
          continue
        }
        let found = String(decoding: open, as: UTF8.self)
        if !found.isEmpty, !names.contains(found) { names.append(found) }
        name = nil
      }
      if let open = quote {
        if isEscaped {
          isEscaped = false
        } else if byte == UInt8(ascii: "\\") {
          isEscaped = true
        } else if byte == open {
          quote = nil
        }
      } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
        quote = byte
      } else if byte == UInt8(ascii: "$") {
        name = []
      }
    }
    return names
  }
}

extension Model {
  /// In the order of the file.
  public var fetchRequests: [FetchTemplate] { parts.fetchRequests }

  /// Nil for a name that the model does not have; case counts.
  public func fetchRequest(named name: String) -> FetchTemplate? { fetchRequests.first { $0.name == name } }
}

// MARK: - Reading the model

extension ModelDraft {
  struct FetchRequest {
    var name, documentation, path, entity, predicate, sort: String
    var limit: Int?
  }
}

extension ModelReader {
  mutating func fetchRequest(_ json: JSON, _ path: String) -> ModelDraft.FetchRequest {
    var fields = Fields(json, path: path, in: &mistakes)
    let request = ModelDraft.FetchRequest(
      name: fields.name("name") ?? "", documentation: fields.string("documentation") ?? "", path: path,
      entity: fields.string("entity", required: true) ?? "", predicate: fields.string("predicate") ?? "",
      sort: fields.string("sort") ?? "", limit: fields.integer("limit"))
    fields.finish(&mistakes)
    return request
  }
}

extension ModelLinker {
  mutating func checkFetchRequests() {
    guard draft.fetchRequests.count <= Self.maximumCount else {
      return report("fetchRequests", "a model has at most \(Self.maximumCount) fetch requests")
    }
    var seen = Set<String>()
    for request in draft.fetchRequests {
      if !seen.insert(request.name.lowercased()).inserted {
        report(request.path + ".name", "another fetch request is called \"\(request.name)\" (case does not count)")
      }
      if byName[request.entity] == nil {
        report(request.path + ".entity", "there is no entity \"\(request.entity)\"")
      }
    }
  }
}

extension ModelPartsParser {
  mutating func parseFetchRequests() {
    for request in draft.fetchRequests {
      guard let entity = model.entity(named: request.entity) else { continue }
      let template = FetchTemplate(
        name: request.name, documentation: request.documentation, entity: entity.number,
        predicate: request.predicate, sort: request.sort, limit: request.limit,
        variables: FetchTemplate.variables(in: request.predicate))
      parts.fetchRequests.append(template)
      do {
        if !template.predicate.isEmpty { try check(template, of: entity) }
      } catch {
        report(request.path + ".predicate", error.description)
      }
      do {
        if !template.sort.isEmpty { _ = try [SortKey](parsing: template.sort, entity: entity) }
      } catch {
        report(request.path + ".sort", error.description)
      }
    }
  }

  /// A predicate with variables is read when it is asked, with their values.
  private func check(_ template: FetchTemplate, of entity: Entity) throws(PredicateSyntaxError) {
    guard template.variables.isEmpty else { return }
    _ = try GraphPredicate(parsing: template.predicate, entity: entity, model: model)
  }
}
