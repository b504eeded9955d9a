import Foundation
import GraphClient
import GraphEmbedded

// `swift run company-embedded FOLDER`: two clients of one graph in one process, without a daemon.
let folder = URL(filePath: CommandLine.arguments.dropFirst().first ?? "company", directoryHint: .isDirectory)
do {
  let ann = try await CompanyModel.embedded(at: folder, author: "ann@example")
  let bob = try await CompanyModel.embedded(at: folder, author: "bob@example")

  let run = try await ann.count(of: Department.self) + 1
  let department = Department(in: ann.context)
  department.code = "D\(run)"
  try await ann.save()  // on the disk when it returns

  // Bob follows the projects, to which Ann adds one.
  for try await projects in bob.live(Project.self, sort: [\.opened]) {
    print("bob sees \(projects.map(\.title))")
    if projects.count == run { break }
    let bridge = Project(in: ann.context)
    bridge.title = "Bridge \(run)"
    bridge.department = department
    try await ann.save()
  }

  // The rules are those of a daemon.
  do {
    let copy = Department(in: bob.context)
    copy.code = department.code
    try await bob.attempt { try await bob.save() }
  } catch GraphError.notUnique(let violations) {
    print("refused: \(violations.flatMap(\.properties)) must be unique")
  }
  await bob.close()
  await ann.close()  // the last one closes the store
} catch let failure as StoreFailure {
  print(failure)
  exit(1)
}
