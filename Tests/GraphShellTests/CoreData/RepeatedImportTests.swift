import GraphClient
import GraphModel
import Testing

@testable import GraphShell

/// The message of an import that lost its daemon.
@Suite struct RepeatedImportTests {
  @Test func unknownOutcomeAdvisesToRunTheImportAgain() {
    let refusal = CoreDataImporter.repeatable(GraphClient.unknownOutcome)
    #expect(refusal.message.hasSuffix("been committed; run the import again, which inserts no row twice"))
    #expect(refusal.isOutcomeUnknown && refusal.code == .unavailable)
    let other = Refusal(.unavailable, "the store is full")
    #expect(CoreDataImporter.repeatable(other) == other)
  }
}
