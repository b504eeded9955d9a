import GraphModel

/// A refusal in the words of the model: which object, which property, which rule, which value.
struct ModelRefusal: ReportedError {
  let refusal: Refusal
  let model: Model
  /// What stands in the way of a delete, or is the subject of a rule, in words.
  var titles = [ObjectID: String]()
  /// The lines of standard input that objects to be inserted come from.
  var lines = [ObjectID: Int]()
  /// What was to come back did not: its conflicts tell what it would have had to have.
  var isRestore = false
  /// Who deleted what its conflicts name, and when.
  var deletions = [ObjectID: Deletion]()
  /// What is done already, when it is a later part that was refused.
  var done = ""

  var report: Failure.Report {
    // One object may be in the way of many.
    var told = Set<ByteKey>()
    let details = (refusal.code == .denied ? denials : violations + conflicts).filter { told.insert($0).inserted }
    let text = Self.brief(details, of: refusal) + (done.isEmpty ? "" : "\n\(done)")
    var members = Failure.outcome(of: refusal)
    if !refusal.violations.isEmpty { members.append(.init("violations", .array(refusal.violations.map(json)))) }
    if !refusal.conflicts.isEmpty { members.append(.init("conflicts", .array(refusal.conflicts.map(json)))) }
    return Failure.Report(
      code: refusal.code.rawValue, message: refusal.message + text, exit: Failure.exitCode(of: refusal.code),
      members: members)
  }

  // MARK: - For a person

  /// So many lines of details a person is told; a program is told all of them.
  static let detailsTold = 10

  /// The first details, a line each, and how many more there are.
  static func brief(_ details: [String], of refusal: Refusal) -> String {
    let lines = details.prefix(detailsTold).map { "\n  \($0)" }.joined()
    guard details.count > detailsTold else { return lines }
    // Of one relationship a refusal names the first of many.
    let isCapped = refusal.code == .denied && refusal.violations.count >= Violation.maximumDenials
    return lines + "\n  and \(isCapped ? "at least " : "")\(details.count - detailsTold) more"
  }

  private func name(_ id: ObjectID) -> String {
    if let line = lines[id] { return "line \(line)" }
    if let title = titles[id] { return title }
    let entity = model.entity(id.entity)?.name ?? "object"
    return id.isTemporary ? "the new \(entity)" : "\(entity) \(id.description.prefix(8))"
  }

  private var violations: [String] {
    refusal.violations.map { violation in
      let property = model.property(violation.property)
      let value = violation.value.isNull ? "" : ", \(values(violation, property))"
      return "\(name(violation.id)): \(violation.message) (\(violation.rule)\(value))"
    }
  }

  /// What breaks the rule; of a unique key over several properties, each with its name.
  private func values(_ violation: Violation, _ property: Property?) -> String {
    guard !violation.others.isEmpty else { return "value \(brief(violation.value, property))" }
    let parts = [Violation.KeyPart(violation.property, violation.value)] + violation.others
    return parts.map { part in
      let property = model.property(part.property)
      return "\(property?.name ?? "value") \(brief(part.value, property))"
    }.joined(separator: ", ")
  }

  /// Each object that keeps another from being deleted.
  private var denials: [String] {
    refusal.violations.map { violation in
      let others = violation.value.objectIDs.map(name).joined(separator: ", ")
      return "\(name(violation.id)): \(model.property(violation.property)?.name ?? "") has \(others)"
    }
  }

  /// Of two new objects that have one key the violations say everything.
  private var conflicts: [String] {
    refusal.conflicts.filter { $0.kind != .unique || !$0.id.isTemporary }.map { conflict in
      let property = model.property(conflict.property)
      let who = conflict.author.isEmpty ? "someone else" : conflict.author
      if isRestore { return unrestored(conflict, property, who) }
      switch conflict.kind {
      case .unique: return "\(name(conflict.id)) is in the way"
      case .deleted:
        return "\(name(conflict.id)): "
          + (deletions[conflict.id]?.words ?? "deleted by \(who) in revision \(conflict.revision)")
      case .changed where conflict.property == 0:
        return "\(name(conflict.id)): changed by \(who) in revision \(conflict.revision)"
      case .changed:
        let mine = brief(conflict.mine, property)
        let theirs = brief(conflict.theirs, property)
        return "\(name(conflict.id)): \(property?.name ?? "the object") is \(theirs) since revision "
          + "\(conflict.revision) of \(who), yours is \(mine)"
      }
    }
  }

  /// What an object would have to have again, and who is in the way of that.
  private func unrestored(_ conflict: Conflict, _ property: Property?, _ who: String) -> String {
    switch conflict.kind {
    case .unique: return "\(name(conflict.id)) is in the way"
    case .deleted:
      let revision = conflict.revision > 0 ? " in revision \(conflict.revision)" : ""
      return
        "\(name(conflict.id)): its \(property?.name ?? "object"), \(brief(conflict.mine, property)), was deleted by "
        + "\(who)\(revision)"
    case .changed:
      return "\(name(conflict.id)): \(brief(conflict.theirs, property)) is in the way, by \(who) in revision "
        + "\(conflict.revision)"
    }
  }

  private func brief(_ value: Value, _ property: Property?) -> String {
    if case .object(let id) = value { return name(id) }
    if case .objects(let ids) = value {
      if ids.isEmpty { return "empty" }
      let more = ids.count > 3 ? " and \(ids.count - 3) more" : ""
      return ids.prefix(3).map(name).joined(separator: ", ") + more
    }
    return value.json(kind: property?.attribute?.kind).text.excerpt
  }

  // MARK: - For a program

  private func json(_ id: ObjectID) -> JSON { id.isTemporary ? .null : .string(id.description) }

  private func json(_ value: Value, _ property: Property?) -> JSON {
    if case .object(let id) = value { return json(id) }
    return value.json(kind: property?.attribute?.kind)
  }

  private func subject(_ id: ObjectID, _ property: Property?) -> [JSON.Member] {
    var members = [
      JSON.Member("object", json(id)), .init("entity", model.entity(id.entity).map { .string($0.name) } ?? .null),
      .init("property", property.map { .string($0.name) } ?? .null),
    ]
    if let line = lines[id] { members.append(.init("line", .integer(Int64(line)))) }
    return members
  }

  private func json(_ violation: Violation) -> JSON {
    let property = model.property(violation.property)
    var members = subject(violation.id, property)
    members += [.init("rule", .string(violation.rule)), .init("value", json(violation.value, property))]
    if !violation.others.isEmpty {
      let others = violation.others.compactMap { part in
        model.property(part.property).map { JSON.Member($0.name, json(part.value, $0)) }
      }
      members.append(.init("others", .object(others)))
    }
    return .object(members + [.init("message", .string(violation.message))])
  }

  private func json(_ conflict: Conflict) -> JSON {
    let property = model.property(conflict.property)
    let kind =
      switch conflict.kind {
      case .changed: "changed"
      case .deleted: "deleted"
      case .unique: "unique"
      }
    let deletion = deletions[conflict.id]
    var members = [JSON.Member("kind", .string(kind))] + subject(conflict.id, property)
    members += [
      .init("mine", json(conflict.mine, property)), .init("theirs", json(conflict.theirs, property)),
      .init("author", .string(deletion?.author ?? conflict.author)),
      .init("revision", .integer(deletion?.revision ?? conflict.revision)),
      .init("mineWon", .bool(conflict.mineWon)),
    ]
    if conflict.isCollateral { members.append(.init("collateral", .bool(true))) }
    if let deletion { members.append(.init("time", .string(Dates.text(deletion.time)))) }
    return .object(members)
  }
}

extension Shell {
  /// The refusal with the names of what it speaks of: one request for each entity, not for each object.
  func explained(_ refusal: Refusal, isRestore: Bool = false) async -> ModelRefusal {
    let refusal = await namingWhatIsMeant(refusal)
    var explained = ModelRefusal(refusal: refusal, model: model)
    explained.isRestore = isRestore
    let subjects =
      refusal.violations.map(\.id) + refusal.conflicts.flatMap { [$0.id] + $0.mine.objectIDs + $0.theirs.objectIDs }
    let values = refusal.violations.flatMap { [$0.value] + $0.others.map(\.value) }
    let named = Set((subjects + values.flatMap(\.objectIDs)).filter { !$0.isTemporary })
    let groups = Dictionary(grouping: named) { model.entity($0.entity)?.root ?? 0 }
    for (root, ids) in groups.sorted(by: { $0.key < $1.key }) {
      guard let entity = model.entity(root) else { continue }
      // What can't be read is named by its id.
      for image in (try? await images(ids.sorted(), of: entity)) ?? [] { explained.titles[image.id] = reference(image) }
    }
    guard !isRestore else { return explained }
    for conflict in refusal.conflicts.filter({ $0.kind == .deleted }).prefix(Self.deletionsLookedUp) {
      guard let (deletion, image) = await deletion(of: conflict.id) else { continue }
      explained.deletions[conflict.id] = deletion
      if let image, explained.titles[conflict.id] == nil { explained.titles[conflict.id] = reference(image) }
    }
    return explained
  }

  /// An id is sent as one of what the relationship takes; where there is an object of another kind with it, that is what
  /// is wrong.
  private func namingWhatIsMeant(_ refusal: Refusal) async -> Refusal {
    var refusal = refusal
    for (place, violation) in refusal.violations.enumerated().prefix(Self.misnamedLookedUp)
    where violation.commonRule == .destination {
      guard let property = model.property(violation.property), let id = violation.value.objectID,
        let wanted = property.relationship.flatMap({ model.entity($0.destination) }),
        let meant = try? await object(id.key.description), !(model.entity(meant.id.entity)?.isKind(of: wanted) ?? true)
      else { continue }
      let message = "\(property.name) takes \(wanted.nameWithArticle), and \(reference(meant)) is none"
      refusal.message = refusal.message.replacing(violation.message, with: message)
      refusal.violations[place].message = message
      refusal.violations[place].value = .object(meant.id)
    }
    return refusal
  }

  private static let misnamedLookedUp = 20
}
