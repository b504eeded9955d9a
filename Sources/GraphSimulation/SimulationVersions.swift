import GraphModel

/// Two versions of the simulation's model, for runs in which some clients are not upgraded.
///
/// Both are derived from the one model, so that an addition to it is in both. The newer one equals the model with
/// `effort` added, and the older one differs from it:
///
/// - `Thing.remark`, a text, was called `comment` and was a string;
/// - `Thing.effort`, which only these two have, was an integer and is a double;
/// - `Item.kind` has the new case `blue`;
/// - `Thing.place` and `Task.code` are new, with a rule and a uniqueness constraint.
enum SimulationVersions {
  /// Four runs in ten have clients of both versions. With an unrelated planted bug there is one version.
  static func areMixed(seed: UInt64, bug: PlantedBug?) -> Bool {
    (seed &+ 1) % 10 < 4 && (bug == nil || bug == .unsettledRead)
  }

  static func load(_ acts: Set<OptionalAction> = []) throws -> (older: Model, newer: Model) {
    let model = try SimulationModel.json(acts)
    return (try Model(parsing: older(model).text.utf8), try Model(parsing: newer(model).text.utf8))
  }

  private static func newer(_ model: JSON) -> JSON {
    model.setting("version", .integer(2)).mapping("entities") { entity in
      guard entity.isNamed("Thing") else { return entity }
      return entity.mapping("attributes") { attribute in
        attribute.isNamed("remark") ? attribute.setting("renamed", .string("comment")) : attribute
      }.adding(optional("effort", "double"), to: "attributes")
    }
  }

  private static func older(_ model: JSON) -> JSON {
    model.mapping("enumerations") { enumeration in
      guard enumeration.isNamed("Kind") else { return enumeration }
      return enumeration.mapping("cases") { $0.stringValue == "blue" ? nil : $0 }
    }.mapping("entities") { entity in
      switch entity["name"]?.stringValue {
      case "Thing":
        entity.mapping("attributes") { attribute in
          if attribute.isNamed("place") { return nil }
          return attribute.isNamed("remark") ? optional("comment", "string") : attribute
        }.mapping("rules") { $0["predicate"]?.stringValue?.contains("place.") == true ? nil : $0 }
          .adding(optional("effort", "integer"), to: "attributes")
      case "Task":
        entity.mapping("attributes") { $0.isNamed("code") ? nil : $0 }
          .mapping("unique") { $0.arrayValue?.contains(.string("code")) == true ? nil : $0 }
      default: entity
      }
    }
  }

  private static func optional(_ name: String, _ type: String) -> JSON {
    .object([.init("name", .string(name)), .init("type", .string(type)), .init("optional", .bool(true))])
  }

  /// Additional predicates of live queries, about the differences between the versions.
  static let queries: [(entity: String, predicate: String)] = [
    ("Thing", "effort > 1"), ("Thing", "effort == 2"), ("Item", "effort BETWEEN {1, 3}"), ("Thing", "effort == NULL"),
    ("Task", "effort != 1"), ("Thing", "parent.effort >= 1"), ("Item", "kind == \"red\" AND effort > 0"),
    ("Task", "about.kind == \"red\""),
  ]

  /// Translates a text into the names of the older version.
  /// - Returns: nil for a predicate at the end of a to-many path, which is evaluated on stored values instead of
  ///   translated ones (docs/decisions/0024).
  static func older(_ text: String) -> String? {
    let many = ["items", "labels", "tasks", "children", "members", "crews"].flatMap { ["\($0).kind", "\($0).effort"] }
    return many.contains(where: text.contains) ? nil : text.replacing("remark", with: "comment")
  }
}

/// Assigns model versions to the clients of a run. It has its own random generator, so that runs with one version do
/// not depend on it.
struct ClientVersionAssigner {
  /// The server's model.
  let served: Model
  private let lens: ModelLens?
  private let older: Set<Int>
  var random: SeededRandom

  init(seed: UInt64, bug: PlantedBug?, clients: Int, acts: Set<OptionalAction>) throws {
    random = SeededRandom(seed: seed ^ 0x1E45)
    guard SimulationVersions.areMixed(seed: seed, bug: bug) else {
      (served, lens, older) = (try SimulationModel.load(acts), nil, [])
      return
    }
    let versions = try SimulationVersions.load(acts)
    var chosen = Set<Int>()
    for client in 0..<clients where random.chance(50) { chosen.insert(client) }
    // At least one client of each version.
    if chosen.isEmpty { chosen.insert(random.below(clients)) }
    if chosen.count == clients, clients > 1 { chosen.remove(random.below(clients)) }
    (served, lens, older) = (versions.newer, try ModelLens(over: [versions.older, versions.newer]), chosen)
  }

  /// Whether the run has two versions.
  var isMixed: Bool { lens != nil }

  /// The server's earlier versions.
  var olderModels: [Model] { if let lens { [lens.old] } else { [] } }

  /// The lens of a client; nil for a client of the server's version.
  func lens(of client: Int) -> ModelLens? { older.contains(client) ? lens : nil }
}

extension JSON {
  fileprivate func isNamed(_ name: String) -> Bool { self["name"]?.stringValue == name }

  fileprivate func setting(_ name: String, _ value: JSON) -> JSON {
    guard let members else { return self }
    return .object(members.filter { $0.name != name } + [Member(name, value)])
  }

  /// Replaces the elements of an array; removes elements that become nil, and the array if it becomes empty.
  fileprivate func mapping(_ name: String, _ body: (JSON) -> JSON?) -> JSON {
    guard let members else { return self }
    return .object(
      members.compactMap { member in
        guard member.name == name, let elements = member.value.arrayValue else { return member }
        let kept = elements.compactMap(body)
        return kept.isEmpty ? nil : Member(name, .array(kept))
      })
  }

  func adding(_ element: JSON, to name: String) -> JSON {
    setting(name, .array((self[name]?.arrayValue ?? []) + [element]))
  }
}
