// Tests: ConnectionLimitTests.swift
import Logging
import NIOCore

/// The limits that an interface shares with the server's own addresses.
extension HubSessions {
  /// The number of connections that an interface may serve: at most half of the descriptors, because the server's own
  /// addresses need the others.
  package func connections(atMost maximum: Int) -> Int {
    precondition(maximum > 0, "an interface serves connections")
    return DescriptorLimit.sharedConnections(maximum)
  }

  /// Counts a channel among the connections of its network, together with connections to the server's own addresses,
  /// until it closes.
  /// - Returns: false if its network has too many.
  package func admitsConnection(_ channel: any Channel) -> Bool { runner.conditions.networks.admits(channel) }

  /// A handler for a listening channel: pauses accepting after an error, such as a reached descriptor limit, and logs
  /// it.
  package static func acceptBackoff(_ log: Logger) -> AcceptBackoffHandler { AcceptBackoff(log: log).handler() }
}
