import FreedMemory
import GraphHub
import GraphModel
import NIOCore

/// Fills the orders that windows are cut from: a reader's thread reads and sorts, and the loop takes the objects in slices.
extension HubRunner {
  /// A window's order is read beside what sessions read, in the turn of the one that asked first.
  func collect(_ ticket: Ticket, _ fetch: FetchRequest, _ session: SessionID) {
    // Nothing goes through it: it says whether the read is still wanted.
    let stream = ReadStream(directory: spoolDirectory) { _ in }
    streams[ticket] = stream
    readers.enqueue(ticket, of: session, isLong: true) { [self] _ in
      var bytes = 0
      let result = reads.collect(fetch, stream, maximumRows: limits.orderRows) { size in
        bytes += size
        try collectedMemory.add(size)
      }
      let collected = OrderSlices(result, bytes: bytes, in: collectedMemory)
      loop.execute {
        // Cancelled meanwhile: only a read that is wanted has a stream.
        guard self.streams.removeValue(forKey: ticket) != nil else { return self.free { collected.free() } }
        self.slices[ticket] = collected
        self.takeSlice(ticket)
      }
      return .answered
    }
  }

  /// Hands some of an order's objects to the hub, and the next ones when everything else has had its turn.
  private func takeSlice(_ ticket: Ticket) {
    guard let collected = slices[ticket] else { return }
    guard let images = collected.next() else {
      slices[ticket] = nil
      return handle(.collectFinished(ticket, collected.result))
    }
    handle(.collected(ticket, images))
    inNextTurn { $0.takeSlice(ticket) }
  }

  /// Runs `work` after the loop has served its sockets: tasks without a delay run before that.
  func inNextTurn(_ work: @escaping @Sendable (HubRunner) -> Void) {
    loop.scheduleTask(in: .milliseconds(1)) { work(self) }
  }

  /// In the next turn this one's actions, which refer to the rows as well, are gone.
  func discard(_ rows: DiscardedRows) {
    let last = LastReference(rows)
    inNextTurn { $0.free { last.free() } }
  }

  /// Frees memory on another thread, and returns it to the system.
  func free(_ work: @escaping @Sendable () -> Void) {
    errands.enqueue {
      work()
      FreedMemory.giveBack()
    }
  }
}
