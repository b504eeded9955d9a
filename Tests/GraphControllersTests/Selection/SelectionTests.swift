import GraphControllers
import GraphTesting
import Synchronization
import Testing

/// A selection, without any view.
@Suite struct SelectionTests {
  @Test func objectsAreSelectedIndividually() {
    var selection = Selection<Int>()
    #expect(selection.isEmpty)
    selection.toggle(3)
    selection.insert(1)
    selection.insert(1)
    #expect(selection.count == 2)
    #expect(selection.contains(3) && selection.contains(1) && !selection.contains(2))
    selection.toggle(3)
    selection.remove(9)
    #expect(selection.target == .some([1]))
    selection.clear()
    #expect(selection.isEmpty)
    selection.select([4, 2])
    #expect(selection.target == .some([2, 4]))
  }

  @Test func deletedObjectsAreDeselected() {
    var selection = Selection<Int>()
    selection.select([1, 2, 3])
    selection.objectsWereDeleted([2, 9])
    #expect(selection.target == .some([1, 3]))
    // The objects selected one by one, which are counted here, and listed or not.
    selection.recount(9)
    #expect(selection.count == 2)
    #expect(selection.contains(1, isListed: false))
    selection.toggle(1, isListed: false)
    #expect(selection.target == .some([3]))
  }

  @Test func temporaryIDBecomesPermanent() {
    var selection = Selection<Int>()
    selection.insert(-1)
    selection.identify(-1, as: 7)
    selection.identify(-2, as: 8)
    #expect(selection.target == .some([7]))
  }

  // MARK: - All of a list

  @Test func selectAllStoresCountAndExceptions() {
    var selection = Selection<Int>()
    selection.selectAll(count: 100_000)
    #expect(selection.isAll)
    #expect(selection.count == 100_000)
    #expect(selection.contains(77_777))
    selection.toggle(5)
    selection.remove(6)
    selection.remove(6)
    #expect(selection.count == 99_998)
    #expect(!selection.contains(5))
    #expect(selection.target == .all(except: [5, 6], also: []))
    #expect(selection.namedCount == 2)
    selection.toggle(5)
    #expect(selection.count == 99_999)
    selection.select([5])
    #expect(!selection.isAll)
  }

  @Test func unlistedObjectsAreNotSelectedByDefault() {
    var selection = Selection<Int>()
    selection.selectAll(count: 3)
    #expect(!selection.contains(8, isListed: false))
    selection.remove(8, isListed: false)
    #expect(selection.count == 3)
    selection.insert(8, isListed: false)
    selection.insert(8, isListed: false)
    #expect(selection.count == 4)
    #expect(selection.contains(8, isListed: false))
    #expect(selection.target == .all(except: [], also: [8]))
    selection.objectsWereDeleted([8, 9])
    #expect(selection.count == 3)
    #expect(selection.contains(8, isListed: false), "an undo may bring it back")
  }

  @Test func countOfSelectAllFollowsDeletesOfOthers() {
    var selection = Selection<Int>()
    selection.selectAll(count: 5)
    selection.remove(1)
    selection.objectsWereDeleted([1, 2])
    selection.recount(3)
    #expect(selection.count == 3)
    #expect(!selection.contains(1) && selection.target == .all(except: [1], also: []), "and then it is out still")
    selection.recount(0)
    #expect(selection.isEmpty && selection.isAll)
  }

  // MARK: - Cost

  /// Counts the reads of an id.
  private final class ComparisonCounter: Sendable {
    private let count = Mutex(0)

    func add() { count.withLock { $0 += 1 } }

    func during(_ body: () -> Void) -> Int {
      let before = count.withLock { $0 }
      body()
      return count.withLock { $0 } - before
    }
  }

  private struct CountingID: Hashable, Comparable, Sendable {
    let number: Int
    let watch: ComparisonCounter

    static func == (left: CountingID, right: CountingID) -> Bool {
      left.watch.add()
      return left.number == right.number
    }
    static func < (left: CountingID, right: CountingID) -> Bool { left.number < right.number }
    func hash(into hasher: inout Hasher) {
      watch.add()
      hasher.combine(number)
    }
  }

  @Test(arguments: [100, 100_000])
  func countingReadsNoIDs(size: Int) {
    let watch = ComparisonCounter()
    var selection = Selection<CountingID>()
    selection.select((0..<size).map { CountingID(number: $0, watch: watch) })
    let action = SelectionAction("delete", named: "Delete")
    let looks = watch.during {
      #expect(selection.count == size)
      #expect(action.isEnabled(selection))
      #expect(action.title(selection) == "Delete (\(size))")
    }
    #expect(looks == 0)
    let toggling = watch.during { selection.toggle(CountingID(number: 7, watch: watch)) }
    #expect(toggling > 0 && toggling < 100, "one toggle looked at \(toggling) ids of \(size)")
    let recounting = watch.during {
      selection.selectAll(count: size)
      selection.recount(size - 1)
      #expect(selection.count == size - 1)
    }
    #expect(recounting == 0)
  }

  // MARK: - Random

  /// The twin keeps the selected ids of the whole list, which are those below a bound when all was selected.
  @Test(arguments: [1, 2, 3, 4, 5, 6, 7, 8] as [UInt64])
  func randomSelectionsMatchReferenceModel(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var list = Set(0..<20)
    var fresh = 20
    var selection = Selection<Int>()
    var twin = Set<Int>()
    var bound = 0
    var mixed = 0
    for step in 0..<800 {
      let id = list.sorted().randomElement(using: &random) ?? 0
      switch Int.random(in: 0..<14, using: &random) {
      case 0:
        selection.selectAll(count: list.count)
        (twin, bound) = (list, fresh)
      case 1:
        selection.clear()
        twin = []
      case 2, 3:
        list.insert(fresh)
        fresh += 1
      case 4, 5:
        guard list.count > 3 else { continue }
        list.remove(id)
        twin.remove(id)
        selection.objectsWereDeleted([id])
        selection.recount(twin.count)
      default:
        selection.toggle(id, isListed: id < bound)
        if twin.remove(id) == nil { twin.insert(id) }
      }
      if selection.isAll, !twin.isEmpty, twin.count < list.count { mixed += 1 }
      #expect(selection.count == twin.count, "seed \(seed), step \(step)")
      #expect(
        list.filter { selection.contains($0, isListed: $0 < bound) } == twin.intersection(list),
        "seed \(seed), step \(step)")
    }
    #expect(mixed > 20, "seed \(seed) shows nothing")
  }
}
