import GraphControllers
import GraphModel
import GraphReplica

extension Bench {
  private static let resultCounts = [1_000, 10_000, 100_000, 1_000_000]
  private static let resultCommits = 2_000
  /// The required time in microseconds, at 100,000 objects.
  private static let resultLimit = 50.0

  /// A delegate that counts all changes.
  private final class Listener: ResultsControllerDelegate {
    private(set) var changes = 0
    func resultsDidChange(_ controller: ResultsController, by difference: ResultsDifference) { changes += 1 }
  }

  /// Measures a results controller over many objects: the first result, and a commit that moves one object.
  func measureControllers() throws {
    var (loads, contextLoads, commits, contextCommits) = ([Double](), [Double](), [Double](), [Double]())
    for count in Self.resultCounts {
      // One run for a million objects; the smaller counts show the variation between runs.
      let rounds = count < 1_000_000 ? Self.rounds : 1
      let ours = try (0..<rounds).map { _ in try resultTimes(count, controlled: true) }
      let bare = try (0..<rounds).map { _ in try resultTimes(count, controlled: false) }
      loads.append(median(ours.map(\.load)))
      contextLoads.append(median(bare.map(\.load)))
      commits.append(median(ours.map(\.commit)))
      contextCommits.append(median(bare.map(\.commit)))
    }
    for (index, count) in Self.resultCounts.enumerated() {
      Figure(
        name: "a commit of one change, a result of \(Figure.text(Double(count)))", unit: "µs",
        ours: commits[index] * 1e6, limit: count == 100_000 ? Self.resultLimit : nil,
        aim: count == 100_000 ? .atMost(1) : .none
      ).report()
    }
    let growth = (commits.last ?? .nan) / (commits.first ?? .nan)
    // The logarithm of 1,000,000 is twice that of 1,000.
    Figure(
      name: "– growth from 1,000 to 1,000,000 beside that of the logarithm", unit: "times", ours: growth, limit: 2,
      aim: .atMost(1)
    ).report()
    let searches = try [Self.resultCounts.first, Self.resultCounts.last].map { try searchTime($0 ?? 0) }
    Figure(
      name: "– beside that of a binary search in a sorted array", unit: "times", ours: growth,
      limit: searches[1] / searches[0], aim: .atMost(1)
    ).report()
    let columns = Self.resultCounts.map { Figure.text(Double($0)) }.joined(separator: " | ")
    say("\n| a result of so many objects | \(columns) |\n|" + String(repeating: " --- |", count: 1 + loads.count))
    row("first result, ms", loads.map { $0 * 1e3 })
    row("– of it the context's own part, ms", contextLoads.map { $0 * 1e3 })
    row("first result, µs an object", zip(loads, Self.resultCounts).map { $0 * 1e6 / Double($1) })
    row("a commit, µs", commits.map { $0 * 1e6 })
    row("– of it the context's own part, µs", contextCommits.map { $0 * 1e6 })
  }

  /// Returns the seconds of a binary search for a row, which only compares: the growth that the machine itself shows
  /// for a logarithmic operation.
  private func searchTime(_ count: Int) throws -> Double {
    let people = try ServedPeople(count)
    let order = SortOrder(
      try [SortKey](parsing: "score,name", entity: people.entity, model: people.model), model: people.model)
    let rows = people.sorted(by: order)
    var place = 0
    let times = (0..<Self.resultCommits).map { number in
      timed {
        // Far from the previous one.
        let wanted = rows[number &* 7_919_993 % count]
        var (low, high) = (0, count)
        while low < high {
          let middle = (low + high) / 2
          let row = rows[middle]
          if order.precedes(row.values, row.id, wanted.values, wanted.id) { low = middle + 1 } else { high = middle }
        }
        place &+= low
      }
    }
    guard place > 0 else { throw BenchmarkError(description: "nothing was found") }
    return median(times)
  }

  private func row(_ name: String, _ values: [Double]) {
    say("| \(name) | \(values.map(Figure.text).joined(separator: " | ")) |")
  }

  /// - Parameter controlled: whether to use a controller with an order by an attribute, or the context alone with the
  ///   same objects.
  private func resultTimes(_ count: Int, controlled: Bool) throws -> (load: Double, commit: Double) {
    let people = try ServedPeople(count)
    let sort = try [SortKey](parsing: "score,name", entity: people.entity, model: people.model)
    let listener = Listener()
    let controller = ResultsController(
      ResultsRequest(entity: people.entity.number, sort: sort), in: people.context)
    controller.delegate = listener
    let load = timed {
      if controlled {
        controller.performFetch()
      } else {
        people.follow()
      }
    }
    let times = (1...Self.resultCommits).map { number in timed { people.commit(number) } }
    if controlled {
      guard controller.count == count, listener.changes == Self.resultCommits + 1 else {
        throw BenchmarkError(description: "the controller told \(listener.changes) changes of \(controller.count) rows")
      }
    }
    return (load, median(times))
  }
}
