import GraphReplica

/// Records what the replicas of a simulation receive and do, in transcripts. It consumes no random numbers, so that a
/// recorded run is the same as any other of its seed.
public final class ReplicaRecorder {
  /// The lines of each replica that has existed, by its name: the client's number, and how often it had been restarted.
  public private(set) var transcripts = [(name: String, lines: [String])]()

  /// A recorder without transcripts.
  public init() {}

  /// Begins a transcript with a context that has not received any event.
  func begin(_ context: ObjectContext, named name: String) {
    let place = transcripts.count
    transcripts.append((name, [ReplicaTranscript.head(of: context)]))
    context.replicaDidHandle = { [weak self] event, actions, deadline in
      self?.transcripts[place].lines.append(ReplicaTranscript.line(event, actions, deadline: deadline))
    }
  }
}
