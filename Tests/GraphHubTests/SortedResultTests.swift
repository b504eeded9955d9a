import GraphTesting
import GraphWire
import Testing

@testable import GraphHub
@testable import GraphModel

/// The tree of an ordered result equals an array that is sorted after each change; the changes of a window equal the
/// difference of two lists.
@Suite struct OrderedRowsTests {
  private struct WindowFixture {
    let model: Model
    let note: Entity
    let order: SortOrder

    init(_ sort: String) throws {
      model = try Fixtures.stickies()
      note = try #require(model.entity(named: "Note"))
      let keys = sort.isEmpty ? [] : try [SortKey](parsing: sort, entity: note, model: model)
      order = SortOrder(keys, model: model)
    }

    /// Few values, so that ids settle many ties.
    func image(_ number: UInt64, _ revision: Revision, _ random: inout SeededGenerator) throws -> ObjectImage {
      var image = ObjectImage(
        id: ObjectID(key: UniqueID(high: 1, low: number), entity: note.number), revision: revision,
        values: note.storedProperties.map { $0.attribute?.defaultValue ?? .null })
      image[try #require(note.property(named: "x"))] = .double(Double(Int.random(in: 0..<6, using: &random)))
      image[try #require(note.property(named: "text"))] = .string(random.pick(["a", "b", "Ä", ""]) ?? "")
      return image
    }
  }

  private static let sorts = ["", "x", "-x,text", "text[localized],-id"]

  /// In order, out of order, and some of them a second time.
  @Test(arguments: UInt64(0)..<40)
  func appendedRowsAreSorted(seed: UInt64) throws {
    let scene = try WindowFixture(Self.sorts[Int(seed % 4)])
    var random = SeededGenerator(seed: seed)
    var rows = SortedResult(order: scene.order)
    var twin = [ObjectID: ObjectImage]()
    for step in 1...20 {
      let images = try (0..<random.below(40)).map { _ in
        try scene.image(UInt64.random(in: 1...300, using: &random), Revision(step), &random)
      }
      let once = Dictionary(images.map { ($0.id, $0) }) { $1 }.values.sorted { $0.id < $1.id }
      let objects = scene.order.sortedWithKeys(once)
      rows.append(random.chance(70) ? objects : objects.sorted { $0.image.id < $1.image.id })
      for image in once { twin[image.id] = image }
      if random.chance(30), let gone = random.pick(twin.keys.sorted()) {
        rows.remove(gone)
        twin[gone] = nil
      }
      let sorted = scene.order.sorted(twin.values)
      #expect(rows.count == sorted.count && rows.images(in: 0..<Int.max) == sorted, "seed \(seed), step \(step)")
      for (place, image) in sorted.enumerated() { #expect(rows.position(of: image.id) == place, "seed \(seed)") }
      let low = random.below(60)
      #expect(rows.ids(in: low..<(low + 5)) == sorted.dropFirst(low).prefix(5).map(\.id), "seed \(seed)")
    }
  }

  @Test(arguments: ["x", "-x,text"]) func ascendingRowsAreAppendedWithoutSearch(sort: String) throws {
    let scene = try WindowFixture(sort)
    var random = SeededGenerator(seed: 1)
    let images = try (UInt64(1)...20_000).map { try scene.image($0, 1, &random) }
    let sorted = scene.order.sortedWithKeys(images)
    var rows = SortedResult(order: scene.order)
    for start in stride(from: 0, to: sorted.count, by: 256) {
      rows.append(Array(sorted[start..<min(start + 256, sorted.count)]))
    }
    #expect(rows.counts.appended == 20_000 && rows.counts.searched == 0)
    #expect(rows.depth < 64, "\(rows.depth)")
    #expect(rows.ids(in: 9_000..<9_100) == sorted[9_000..<9_100].map(\.image.id))
  }

  @Test(arguments: UInt64(0)..<40)
  func treeEqualsSortedArray(seed: UInt64) throws {
    let scene = try WindowFixture(Self.sorts[Int(seed % 4)])
    var random = SeededGenerator(seed: seed)
    var rows = SortedResult(order: scene.order)
    var twin = [ObjectID: ObjectImage]()
    for step in 1...300 {
      let number = UInt64.random(in: 1...60, using: &random)
      let image = try scene.image(number, Revision(step), &random)
      if random.chance(40) {
        rows.remove(image.id)
        twin[image.id] = nil
      } else {
        rows.insert(image)
        twin[image.id] = image
      }
      guard step % 20 == 0 else { continue }
      let sorted = scene.order.sorted(twin.values)
      #expect(rows.count == sorted.count, "seed \(seed), step \(step)")
      #expect(rows.images(in: 0..<Int.max) == sorted, "seed \(seed), step \(step)")
      let low = Int.random(in: 0...70, using: &random)
      let part = low..<(low + Int.random(in: 0...9, using: &random))
      #expect(rows.ids(in: part) == sorted.dropFirst(low).prefix(part.count).map(\.id), "seed \(seed), step \(step)")
      for (place, image) in sorted.enumerated() { #expect(rows.position(of: image.id) == place, "seed \(seed)") }
      let stranger = try scene.image(99, 0, &random)
      let before = sorted.filter {
        scene.order.precedes(
          scene.order.values(of: $0), $0.id, scene.order.values(of: stranger), stranger.id)
      }
      #expect(rows.position(for: stranger) == before.count, "seed \(seed), step \(step)")
    }
    for id in twin.keys.sorted() { rows.remove(id) }
    #expect(rows.count == 0 && rows.size == 0)
  }

  @Test func treeStaysBalancedInAnyInsertionOrder() throws {
    let scene = try WindowFixture("x")
    var random = SeededGenerator(seed: 7)
    for rising in [true, false] {
      var rows = SortedResult(order: scene.order)
      for number in UInt64(1)...20_000 {
        rows.insert(try scene.image(rising ? number : 20_001 - number, 1, &random))
      }
      // Twice the logarithm would be 29; chance gives a few more.
      #expect(rows.depth < 60, "\(rows.depth)")
    }
  }

  @Test(arguments: UInt64(0)..<60)
  func windowChangesTransformOldWindowToNew(seed: UInt64) throws {
    let scene = try WindowFixture(Self.sorts[Int(seed % 4)])
    var random = SeededGenerator(seed: seed)
    var rows = SortedResult(order: scene.order)
    var twin = [ObjectID: ObjectImage]()
    var (reported, silent) = (0, 0)
    for step in 1...60 {
      var changes = [LiveQueryChange]()
      let before = scene.order.sorted(twin.values).map(\.id)
      for number in Set(
        (0...Int.random(in: 0...3, using: &random)).map { _ in UInt64.random(in: 1...30, using: &random) }
      )
      .sorted() {
        let image = try scene.image(number, Revision(step), &random)
        if let old = twin[image.id] {
          if random.chance(30) {
            changes.append(.removed(old, deleted: random.chance(50)))
            twin[image.id] = nil
          } else {
            changes.append(.updated(image, edits: [], previous: old.revision))
            twin[image.id] = image
          }
        } else {
          changes.append(.inserted(image))
          twin[image.id] = image
        }
      }
      let ranges = (0..<6).map { WindowRange(offset: 4 * $0, limit: 1 + (Int(seed) + $0) % 7) }
      let after = scene.order.sorted(twin.values)
      let touched = Set(changes.map(\.id))
      let result = SortedResultTransition(changes, on: &rows, windows: ranges)
      for range in ranges {
        func cut<Row>(_ list: [Row]) -> [Row] { Array(list.dropFirst(range.offset).prefix(range.limit)) }
        let (old, new) = (cut(before), cut(after))
        let words = "seed \(seed), step \(step), \(range)"
        guard let delta = result.changes(of: range, in: rows, wholeObjects: false) else {
          silent += 1
          #expect(old == new.map(\.id) && before.count == after.count, Comment(rawValue: words))
          #expect(touched.isDisjoint(with: old), Comment(rawValue: words))
          continue
        }
        reported += 1
        var held = old
        let gone = Set(delta.changes.filter { $0.kind == .removed || $0.place != nil }.map(\.id))
        held.removeAll { gone.contains($0) }
        for change in delta.changes {
          if let place = change.place { held.insert(change.id, at: Int(place)) }
        }
        #expect(held == new.map(\.id), Comment(rawValue: words))
        #expect(delta.total == (before.count == after.count ? nil : UInt64(after.count)), Comment(rawValue: words))
        // A new row is sent with its complete object, and no row is sent twice.
        #expect(Set(delta.changes.map(\.id)).count == delta.changes.count, Comment(rawValue: words))
        for image in new where !old.contains(image.id) {
          #expect(delta.changes.contains { $0.kind == .inserted && $0.object == image }, Comment(rawValue: words))
        }
        for image in new where old.contains(image.id) && touched.contains(image.id) {
          #expect(delta.changes.contains { $0.kind == .updated && $0.id == image.id }, Comment(rawValue: words))
        }
      }
    }
    #expect(reported > 50 && silent > 10, "seed \(seed): \(reported) \(silent)")
  }
}
