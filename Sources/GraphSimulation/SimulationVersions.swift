import GraphModel

/// Two versions of the simulation's model, for runs in which not every client has been upgraded. Both are made of the one
/// model, so what is added there is in both; what it has is the newer one's, and the older one lacks some of it:
///
/// - `Thing.remark`, a text, was called `comment` and was a string;
/// - `Thing.effort`, which stands in these two only, was a whole number and is a double;
/// - `Item.kind` takes `blue` as well;
/// - `Thing.place` and `Task.code` are new, with a rule and a key.
enum SimulationVersions {
  /// Four runs of ten have clients of both. With a bug that has nothing to do with them there is one version.
  static func areMixed(seed: UInt64, bug: PlantedBug?) -> Bool {
    (seed &+ 1) % 10 < 4 && (bug == nil || bug == .unsettledRead)
  }

  static func load() throws -> (older: Model, newer: Model) {
    let model = try JSON(parsing: SimulationModel.source)
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

  /// What clients of either version follow besides the model's own queries, over what differs.
  static let queries: [(entity: String, predicate: String)] = [
    ("Thing", "effort > 1"), ("Thing", "effort == 2"), ("Item", "effort BETWEEN {1, 3}"), ("Thing", "effort == NULL"),
    ("Task", "effort != 1"), ("Thing", "parent.effort >= 1"), ("Item", "kind == \"red\" AND effort > 0"),
    ("Task", "about.kind == \"red\""),
  ]

  /// A text in the names of the older version; nil where a condition is put to what is stored and not to what is seen: at
  /// the end of a path to many (docs/decisions/0024).
  static func older(_ text: String) -> String? {
    let many = ["items", "labels", "tasks", "children", "members", "crews"].flatMap { ["\($0).kind", "\($0).effort"] }
    return many.contains(where: text.contains) ? nil : text.replacing("remark", with: "comment")
  }
}

/// Who is of which version in a run. Has a generator of its own, so that runs of one version are as they ever were.
struct VersionMix {
  /// The model that is served.
  let served: Model
  private let lens: ModelLens?
  private let older: Set<Int>
  var random: SeededRandom

  init(seed: UInt64, bug: PlantedBug?, clients: Int) throws {
    random = SeededRandom(seed: seed ^ 0x1E45)
    guard SimulationVersions.areMixed(seed: seed, bug: bug) else {
      (served, lens, older) = (try SimulationModel.load(), nil, [])
      return
    }
    let versions = try SimulationVersions.load()
    var chosen = Set<Int>()
    for client in 0..<clients where random.chance(50) { chosen.insert(client) }
    // One of each at least.
    if chosen.isEmpty { chosen.insert(random.below(clients)) }
    if chosen.count == clients, clients > 1 { chosen.remove(random.below(clients)) }
    (served, lens, older) = (versions.newer, try ModelLens(over: [versions.older, versions.newer]), chosen)
  }

  /// Whether there are two versions.
  var isMixed: Bool { lens != nil }

  /// The versions before the one that is served, as a daemon knows them.
  var olderModels: [Model] { lens.map { [$0.old] } ?? [] }

  /// What a client sees the store through; nil for one of the served version.
  func lens(of client: Int) -> ModelLens? { older.contains(client) ? lens : nil }
}

extension JSON {
  fileprivate func isNamed(_ name: String) -> Bool { self["name"]?.stringValue == name }

  fileprivate func setting(_ name: String, _ value: JSON) -> JSON {
    guard let members else { return self }
    return .object(members.filter { $0.name != name } + [Member(name, value)])
  }

  /// With other elements of an array; one that becomes nil goes, and an array without any goes as a whole.
  fileprivate func mapping(_ name: String, _ body: (JSON) -> JSON?) -> JSON {
    guard let members else { return self }
    return .object(
      members.compactMap { member in
        guard member.name == name, let elements = member.value.arrayValue else { return member }
        let kept = elements.compactMap(body)
        return kept.isEmpty ? nil : Member(name, .array(kept))
      })
  }

  fileprivate func adding(_ element: JSON, to name: String) -> JSON {
    setting(name, .array((self[name]?.arrayValue ?? []) + [element]))
  }
}
