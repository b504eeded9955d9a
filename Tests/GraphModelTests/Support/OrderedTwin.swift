import GraphModel
import GraphTesting

/// Ordered relationships twice: through the rules, and as arrays that a person would move things about in. Random
/// transactions go to both.
struct OrderedTwin<Random: RandomNumberGenerator> {
  let graph: MemoryGraph
  var random: Random
  /// For each project its steps, for each chapter its projects.
  private var lists = [ObjectID: [ObjectID]]()
  private var projects = [ObjectID]()
  private var chapters = [ObjectID]()
  private var steps = [ObjectID]()
  /// The number of transactions that the rules accepted.
  private(set) var accepted = 0
  /// Members that moved only to make space.
  private(set) var spaced = 0

  init(random: Random) throws {
    graph = MemoryGraph(try Fixtures.ordered())
    self.random = random
    let made = (0..<3).map { _ in graph.temporary("Project") } + (0..<2).map { _ in graph.temporary("Chapter") }
    let ids = try graph.commit(made.map { Change(.insert, $0) }).identities.map(\.permanent)
    (projects, chapters) = (Array(ids.prefix(3)), Array(ids.suffix(2)))
    for id in ids { lists[id] = [] }
  }

  /// Commits one transaction of one to four changes, and returns the difference afterwards, or nil.
  mutating func step() throws -> String? {
    if Int.random(in: 0..<10, using: &random) == 0 { try squeeze() }
    var changes = [Change]()
    var next = lists
    var (added, gone) = ([ObjectID](), Set<ObjectID>())
    for _ in 0..<Int.random(in: 1...4, using: &random) {
      guard let change = change(&next, &added) else { continue }
      changes.append(change)
      if change.kind == .delete { gone.insert(change.id) }
    }
    let plan = try graph.commit(changes, policy: .overwrite)
    accepted += 1
    spaced += plan.changes.count { !$0.spacing.isEmpty }
    let permanent = Dictionary(
      plan.identities.map { ($0.temporary, $0.permanent) }, uniquingKeysWith: { first, _ in first })
    lists = next.filter { !gone.contains($0.key) }.mapValues { list in
      list.filter { !gone.contains($0) }.map { permanent[$0] ?? $0 }
    }
    steps = (steps + added.map { permanent[$0] ?? $0 }).filter { !gone.contains($0) }
    return difference()
  }

  private mutating func change(_ lists: inout [ObjectID: [ObjectID]], _ added: inout [ObjectID]) -> Change? {
    guard let project = projects.randomElement(using: &random), let chapter = chapters.randomElement(using: &random)
    else { return nil }
    let stepsNumber = graph.property("Project", "steps")
    let known = steps + added
    switch Int.random(in: 0..<12, using: &random) {
    case 0...2:
      let step = graph.temporary("Step")
      added.append(step)
      lists[project, default: []].append(step)
      return Change(.insert, step, edits: [Edit(graph.property("Step", "project"), .set(.object(project)))])
    case 3...6:
      let moved = pick(known, 3)
      let list = lists[project, default: []]
      // Mostly the same place, so that room runs out there.
      let anchor =
        Int.random(in: 0..<10, using: &random) < 7 ? list.first : (list + known).randomElement(using: &random)
      let after = Int.random(in: 0..<8, using: &random) == 0 ? nil : anchor
      for step in moved { take(step, from: &lists, but: project) }
      lists[project] = ListReorderer.placing(moved, after: after, in: lists[project, default: []])
      return Change(.update, project, base: .max, edits: [Edit(stepsNumber, .place(moved, after: after))])
    case 7:
      let wanted = Array((lists[project, default: []] + pick(known, 2)).shuffled(using: &random).dropLast())
      for step in wanted { take(step, from: &lists, but: project) }
      lists[project] = ListReorderer.unique(wanted)
      return Change(.update, project, base: .max, edits: [Edit(stepsNumber, .set(.objects(wanted)))])
    case 8:
      let (more, fewer) = (pick(known, 2), pick(lists[project, default: []], 1))
      lists[project]?.removeAll { fewer.contains($0) }
      for step in more {
        take(step, from: &lists, but: project)
        if lists[project]?.contains(step) != true { lists[project, default: []].append(step) }
      }
      return Change(.update, project, base: .max, edits: [Edit(stepsNumber, .members(added: more, removed: fewer))])
    case 9:
      guard steps.count > 5, let step = steps.randomElement(using: &random) else { return nil }
      return Change(.delete, step)
    case 10:
      let moved = pick(projects, 2)
      let after = lists[chapter, default: []].randomElement(using: &random)
      lists[chapter] = ListReorderer.placing(moved, after: after, in: lists[chapter, default: []])
      return Change(
        .update, chapter, base: .max, edits: [Edit(graph.property("Chapter", "projects"), .place(moved, after: after))])
    default:
      // From the side that stores nothing.
      lists[chapter]?.removeAll { $0 == project }
      lists[chapter]?.append(project)
      let number = graph.property("Project", "chapters")
      return Change(
        .update, project, base: .max,
        edits: [
          Edit(number, .members(added: [], removed: [chapter])), Edit(number, .members(added: [chapter], removed: [])),
        ])
    }
  }

  /// Leaves no room between the steps of a project, as ten thousand inserts would.
  private mutating func squeeze() throws {
    guard let project = projects.randomElement(using: &random) else { return }
    let number = graph.property("Step", "project.order")
    let start = Int64.random(in: -40...40, using: &random)
    let changes = lists[project, default: []].enumerated().map { index, step in
      Change(.update, step, base: .max, edits: [Edit(number, .set(.integer(start + Int64(index))))])
    }
    try graph.commit(changes, policy: .overwrite, isUndo: true)
  }

  private mutating func pick(_ ids: [ObjectID], _ most: Int) -> [ObjectID] {
    Array(ids.shuffled(using: &random).prefix(Int.random(in: 0...most, using: &random)))
  }

  private func take(_ step: ObjectID, from lists: inout [ObjectID: [ObjectID]], but project: ObjectID) {
    for other in projects where other != project { lists[other]?.removeAll { $0 == step } }
  }

  private func difference() -> String? {
    for project in projects {
      let found = graph.members(of: project, "project", of: "Step")
      if found != lists[project] { return "steps are \(found), should be \(lists[project] ?? [])" }
    }
    for chapter in chapters where graph.value(chapter, "projects").objectIDs != lists[chapter] {
      return "projects are \(graph.value(chapter, "projects")), should be \(lists[chapter] ?? [])"
    }
    for step in steps where graph.value(step, "project").isNull != graph.value(step, "project.order").isNull {
      return "\(step) has a place without a project, or a project without a place"
    }
    return nil
  }
}
