import FreedMemory
import GraphHub
import GraphModel
import NIOCore

/// Fills the orders: a reader's thread reads and sorts the objects, and the loop takes them in slices.
extension HubRunner {
  /// Reads an order's objects on a reader's thread, queued with the reads of the session that needs them first.
  func collect(_ ticket: StoreRequestID, _ fetch: FetchRequest, _ visibility: Visibility?, _ session: SessionID) {
    // This stream carries no frames; it only records whether the read was cancelled.
    let stream = ReadStream(directory: spoolDirectory) { _ in }
    streams[ticket] = stream
    let user = user(of: session)
    readers.enqueue(ticket, of: session, user: user, isLong: true) { [self, userReads = reads(of: user)] _ in
      var bytes = 0
      var reads = userReads
      reads.visibility = visibility
      let result = reads.collect(fetch, stream, maximumRows: limits.orderRows) { size in
        bytes += size
        try collectedMemory.add(size)
      }
      let collected = OrderTransfer(result, bytes: bytes, in: collectedMemory)
      loop.execute {
        // A cancelled read has no stream.
        guard self.streams.removeValue(forKey: ticket) != nil else { return self.free { collected.free() } }
        self.slices[ticket] = collected
        self.forwardSlice(ticket)
      }
      return .answered
    }
  }

  /// Passes a slice of an order's objects to the hub, and schedules the next one for the following turn.
  private func forwardSlice(_ ticket: StoreRequestID) {
    // The order may have been removed between two slices.
    guard let collected = slices[ticket] else { return }
    guard let objects = collected.next() else {
      slices[ticket] = nil
      return process(.collectFinished(ticket, collected.result, damage: collected.damage))
    }
    process(.collected(ticket, objects))
    inNextTurn { $0.forwardSlice(ticket) }
  }

  /// Runs `work` after the loop has served its sockets; tasks without a delay would run before.
  func inNextTurn(_ work: @escaping @Sendable (HubRunner) -> Void) {
    loop.scheduleTask(in: .milliseconds(1)) { work(self) }
  }

  /// Frees the rows of a removed order in the next turn, when this turn's actions no longer refer to them.
  func discard(_ rows: DiscardedRows) {
    let last = FreeableValue(rows)
    inNextTurn { $0.free { last.free() } }
  }

  /// Runs `work`, which frees memory, on another thread and returns the memory to the system.
  func free(_ work: @escaping @Sendable () -> Void) {
    internalReaders.enqueue {
      work()
      releaseFreedMemory()
    }
  }
}
