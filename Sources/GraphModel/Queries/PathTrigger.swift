/// A path from the objects of an entity, its roots, to the object with the changed property, after the last hop.
struct PathTrigger: Hashable {
  let root: EntityNumber
  let hops: [PropertyNumber]
}
