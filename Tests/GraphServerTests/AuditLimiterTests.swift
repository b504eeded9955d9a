import Testing

@testable import GraphServer

/// The lines of the audit log that a client in a loop causes.
@Suite struct AuditLimiterTests {
  @Test func kindHasOneLineInTenSeconds() {
    var limiter = AuditLimiter()
    #expect(limiter.omitted(before: "a", now: 0) == 0)
    for now in Int64(1)...5 { #expect(limiter.omitted(before: "a", now: now) == nil) }
    #expect(limiter.omitted(before: "a", now: 9_999) == nil)
    // Other kinds have lines of their own.
    #expect(limiter.omitted(before: "b", now: 9_999) == 0)
    #expect(limiter.omitted(before: "a", now: 10_000) == 6)
    #expect(limiter.omitted(before: "a", now: 20_000) == 0)
  }

  @Test func memoryIsBounded() {
    var limiter = AuditLimiter()
    for number in 0..<AuditLimiter.maximumLines { #expect(limiter.omitted(before: "\(number)", now: 0) == 0) }
    // Neither a line nor memory for one more, until old ones are forgotten; nothing is lost from the count.
    #expect(limiter.omitted(before: "more", now: 1) == nil)
    #expect(limiter.omitted(before: "0", now: 2) == nil)
    #expect(limiter.omitted(before: "more", now: 10_000) == 2)
  }
}
