import GraphModel
import Testing

/// The clocks that may decide about ages.
@Suite struct PruningClockTests {
  private static let second: Timestamp = 1_000_000
  private static let hour = 3_600 * second
  private static let day = 24 * hour
  private static let now: Timestamp = 1_790_000_000 * second
  private static let retention = 90 * day

  /// A machine that has run for a thousand seconds when the program starts.
  private struct Machine {
    var wall = PruningClockTests.now
    var monotonic = 1_000 * PruningClockTests.second
    var head: Revision = 200
    var newest: Timestamp? = PruningClockTests.now - PruningClockTests.second

    var reading: PruningClock.Reading {
      PruningClock.Reading(wall: wall, monotonic: monotonic, head: head, newest: newest)
    }

    mutating func pass(_ span: Timestamp) {
      wall += span
      monotonic += span
    }
  }

  @Test func consistentClockIsTrusted() {
    var machine = Machine()
    var clock = PruningClock(machine.reading, retention: Self.retention)
    for _ in 0..<48 {
      machine.pass(Self.hour)
      #expect(clock.decide(machine.reading) == .prune(now: machine.wall, through: 200))
    }
  }

  @Test func clockAheadForSecondsPrunesNothing() {
    var machine = Machine()
    var clock = PruningClock(machine.reading, retention: Self.retention)
    machine.pass(Self.hour)
    machine.wall += 200 * Self.day
    #expect(clock.decide(machine.reading) == .refuse(.jumped(200 * Self.day)))
    machine.pass(4 * Self.second)
    // A commit made with the wrong clock proves nothing.
    (machine.head, machine.newest) = (201, machine.wall)
    #expect(clock.decide(machine.reading) == .refuse(.jumped(200 * Self.day)))
    machine.wall -= 200 * Self.day
    machine.pass(Self.second)
    #expect(clock.decide(machine.reading) == .prune(now: machine.wall, through: 200))
  }

  @Test func correctedClockIsTrustedAfterADay() {
    var machine = Machine(wall: 0, newest: Self.now - Self.day)
    var clock = PruningClock(machine.reading, retention: Self.retention)
    machine.pass(60 * Self.second)
    // A clock behind the newest commit prunes less, never more.
    #expect(clock.decide(machine.reading) == .prune(now: machine.wall, through: 200))
    machine.wall += Self.now
    #expect(clock.decide(machine.reading) == .refuse(.jumped(Self.now)))
    machine.pass(PruningClock.settlingTime - Self.second)
    #expect(clock.decide(machine.reading) == .refuse(.jumped(Self.now)))
    machine.pass(Self.second)
    #expect(clock.decide(machine.reading) == .prune(now: machine.wall, through: 200))
  }

  @Test func clockFarAheadOfStoreAtStartIsNotTrusted() {
    var machine = Machine(newest: Self.now - 200 * Self.day)
    var clock = PruningClock(machine.reading, retention: Self.retention)
    #expect(clock.decide(machine.reading) == .refuse(.aheadOfNewest(200 * Self.day)))
    // Commits made by a clock do not confirm that clock.
    machine.pass(Self.hour)
    (machine.head, machine.newest) = (300, machine.wall)
    #expect(clock.decide(machine.reading) == .refuse(.aheadOfNewest(200 * Self.day)))
    machine.pass(PruningClock.settlingTime)
    #expect(clock.decide(machine.reading) == .prune(now: machine.wall, through: 200))
  }

  @Test func distrustLastsAtMostTheRetention() {
    var machine = Machine(newest: Self.now - Self.day)
    var clock = PruningClock(machine.reading, retention: 10 * Self.second)
    machine.pass(9 * Self.second)
    #expect(clock.decide(machine.reading) == .refuse(.aheadOfNewest(Self.day)))
    machine.pass(Self.second)
    guard case .prune(machine.wall, _) = clock.decide(machine.reading) else {
      Issue.record("what was there is ten seconds old by the monotonic clock")
      return
    }
  }

  @Test(arguments: [(Timestamp(0), true), (1, false)])
  func stepWithinToleranceIsIgnored(beyond: Timestamp, isBelieved: Bool) {
    for direction in [1, -1] as [Timestamp] {
      var machine = Machine()
      var clock = PruningClock(machine.reading, retention: Self.retention)
      machine.wall += direction * (PruningClock.tolerance + beyond)
      let expected: PruningClock.Decision =
        isBelieved
        ? .prune(now: machine.wall, through: 200) : .refuse(.jumped(direction * (PruningClock.tolerance + beyond)))
      #expect(clock.decide(machine.reading) == expected)
    }
  }

  /// Many small steps are a jump.
  @Test func sumOfStepsIsLimited() {
    var machine = Machine()
    var clock = PruningClock(machine.reading, retention: Self.hour)
    let step = 540 * Self.second
    for number in 1...12 {
      machine.wall += step
      machine.pass(Self.second)
      let decision = clock.decide(machine.reading)
      if number == 1 {
        #expect(decision == .prune(now: machine.wall, through: 200))
      } else if case .prune = decision {
        Issue.record("step \(number): the clock is \(number * 9) minutes ahead")
      }
    }
    machine.pass(Self.hour)
    guard case .prune(machine.wall, _) = clock.decide(machine.reading) else {
      Issue.record("the clock has run without a step for an hour")
      return
    }
  }

  /// Time synchronization corrects a clock by a small step now and then.
  @Test func smallCorrectionsAreTrusted() {
    var machine = Machine()
    var clock = PruningClock(machine.reading, retention: Self.retention)
    for _ in 0..<100 {
      machine.pass(Self.day)
      machine.wall += 300 * Self.second
      guard case .prune(machine.wall, _) = clock.decide(machine.reading) else {
        Issue.record("five minutes a day are no jump")
        return
      }
    }
  }

  @Test(arguments: [(Timestamp(0), true), (1, false)])
  func storeMayBeIdleForATenthOfTheRetention(beyond: Timestamp, isBelieved: Bool) {
    let newest = Self.now - 9 * Self.day - beyond
    let machine = Machine(newest: newest)
    var clock = PruningClock(machine.reading, retention: Self.retention)
    let expected: PruningClock.Decision =
      isBelieved ? .prune(now: machine.wall, through: 200) : .refuse(.aheadOfNewest(9 * Self.day + beyond))
    #expect(clock.decide(machine.reading) == expected)
    // Without another clock ages are counted from the newest commit.
    let time = PruningClock.time(wall: Self.now, newest: newest, retention: Self.retention)
    #expect(time == (isBelieved ? Self.now : newest + 9 * Self.day))
    #expect((PruningClock.lead(wall: Self.now, newest: newest, retention: Self.retention) == nil) == isBelieved)
  }

  @Test func commitsOfThisRunAreNotOlderThanIt() {
    var machine = Machine()
    var clock = PruningClock(machine.reading, retention: Self.retention)
    var heads = [Revision]()
    for day in 1...200 {
      heads.append(machine.head)
      machine.pass(Self.day)
      machine.head += 10
      machine.newest = machine.wall
      guard case .prune(machine.wall, let through) = clock.decide(machine.reading) else {
        Issue.record("day \(day): the clock is right")
        return
      }
      // No commit of the last 90 days may be pruned. All older commits are pruned, except those within the distance of
      // a mark.
      let limit = day < 90 ? 200 : heads[day - 90] + 10
      #expect(through <= limit, "day \(day)")
      #expect(through >= limit - 30, "day \(day)")
    }
  }

  @Test func retentionByCountNeedsNoClock() {
    var machine = Machine(newest: Self.now + 300 * Self.day)
    var clock = PruningClock(machine.reading, retention: 0)
    machine.wall = 5
    #expect(clock.decide(machine.reading) == .prune(now: .max, through: .max))
    #expect(PruningClock.lead(wall: .max, newest: 0, retention: 0) == nil)
  }

  @Test func extremeClockValuesDoNotOverflow() {
    for (wall, newest) in [(Timestamp.max, Timestamp.min), (.min, .max), (.max, .max), (.min, .min)] {
      var machine = Machine(wall: wall, newest: newest)
      var clock = PruningClock(machine.reading, retention: .max)
      _ = clock.decide(machine.reading)
      machine.wall = newest
      let decision = clock.decide(machine.reading)
      // A clock that goes back from the end of time was wrong.
      if wall > newest {
        guard case .refuse = decision else {
          Issue.record("\(wall) to \(newest): \(decision)")
          continue
        }
      }
      let time = PruningClock.time(wall: wall, newest: newest, retention: .max)
      #expect(time >= min(wall, newest) && time <= max(wall, newest))
    }
  }
}
