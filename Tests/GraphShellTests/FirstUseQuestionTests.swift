import Testing

@testable import GraphShell

/// The answer to the question about a server's key.
@Suite struct FirstUseQuestionTests {
  @Test(arguments: [
    ("yes\n", true), (" YES \n", true), ("y\n", false), ("\n", false), ("", false), ("yes please\n", false),
    ("no\n", false),
  ])
  func onlyWholeWordAccepts(answer: String, isAccepted: Bool) {
    #expect(FirstUseQuestion.isAcceptance(answer) == isAccepted)
  }
}
