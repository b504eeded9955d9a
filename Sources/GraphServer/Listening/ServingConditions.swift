// Tests: ListeningPolicyTests.swift
import GraphWire
import Logging

/// The decisions about connections that follow from a server's configuration and its machine, for its whole run.
struct ServingConditions: Sendable {
  /// The maximum number of connections.
  let maximumConnections: Int
  /// The addresses that lack encryption or accounts, which the operator has accepted.
  let exposures: [AddressExposure]
  /// Counts the connections of each network, over all addresses.
  let networks: NetworkLimiter

  init(_ configuration: GraphServer.Configuration, others: [ServerAddress] = [], log: Logger) {
    networks = NetworkLimiter(maximum: configuration.limits.networkConnections, log: log)
    maximumConnections =
      others.isEmpty
      ? DescriptorLimit.connections(configuration.maximumConnections)
      : DescriptorLimit.sharedConnections(configuration.maximumConnections)
    exposures = AddressExposure.find(
      in: configuration.addresses + configuration.optionalAddresses + others, hasAccounts: configuration.hasAccounts)
  }
}
