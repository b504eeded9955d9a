// Tests: CancelledRequestTests.swift
import NIOCore

/// Counts the work in progress of a running server, for tests.
package struct ServerProbe: Sendable {
  /// The work in progress for all sessions. All numbers are zero when no client waits for anything or follows a query.
  package struct Census: Sendable, Equatable {
    /// Live queries, counted for each session.
    package var registrations = 0
    /// Requests that the hub has passed to the store.
    package var openReads = 0
    /// Answers in transit, each of which has memory and may have a file.
    package var streams = 0
    /// Reads that wait for a thread or run.
    package var scheduledReads = 0
    /// Batches whose rows are kept for their request.
    package var keptRows = 0
    /// Batches that wait for the writer or run.
    package var batches = 0

    /// No work in progress.
    package static var idle: Census { Census() }
  }

  let runner: HubRunner

  /// Counts the work in progress.
  package func census() async throws -> Census { try await runner.loop.submit { runner.census }.get() }
}
