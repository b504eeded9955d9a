import Foundation
import GraphClient

/// `swift run company-worker SERVER`: raises the salaries of eight departments, each on its own background context.
@main struct Worker {
  static func main() async throws {
    guard CommandLine.arguments.count == 2, let server = try? ServerAddress(parsing: CommandLine.arguments[1]) else {
      return print("usage: company-worker tcp://HOST:PORT|unix:///PATH")
    }
    let office = try await connect("office@example", to: server)
    // Objects stay in their context; ids leave it.
    let departments = try await office.perform { client in
      let departments = try (1...8).map { try makeDepartment($0, in: client.context) }
      try await client.save()
      return departments.map(\.id)
    }

    let raised = try await withThrowingTaskGroup(of: Int.self) { group in
      for department in departments {
        group.addTask { try await raiseSalaries(of: department, at: server) }
      }
      var count = 0
      for try await people in group { count += people }
      return count
    }
    print("\(departments.count) contexts raised \(raised) salaries")

    let total = try await office.perform { client in
      try await client.fetch(Person.self).compactMap(\.salary).reduce(0, +)
    }
    print("the salaries are \(total) now")
    await office.close()
  }

  static func connect(_ author: String, to server: ServerAddress) async throws -> BackgroundContext {
    try await CompanyModel.makeBackgroundContext(to: server, author: author)
  }

  /// A department of as many people as its number.
  static func makeDepartment(_ number: Int, in context: ObjectContext) throws -> Department {
    let department = Department(in: context)
    department.code = "D\(number)"
    for place in 1...number {
      let person = Person(in: context)
      person.name = "Person \(number).\(place)"
      person.hired = try Date("2026-01-01T00:00:00Z", strategy: .iso8601)
      person.salary = 1_000
      person.department = department
    }
    return department
  }

  static func raiseSalaries(of id: ObjectID, at server: ServerAddress) async throws -> Int {
    let context = try await connect("payroll@example", to: server)
    let count = try await context.perform { client in
      guard let department = try await client.fetchOne(Department.self, id: id, prefetch: [\.staff]) else { return 0 }
      for person in department.staff { person.salary = person.salary.map { $0 * 11 / 10 } }
      try await client.save()
      return department.staff.count
    }
    await context.close()
    return count
  }
}
