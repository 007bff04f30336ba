/** The context of an entity besides the rows of a candidate. All of it is data for the judge, not evidence. */
export type EntityContext = {
  /** Notes about the entity and about other values in its rows, for example that a host is a backup server. */
  notes: { entity: string; note: string }[];
  /** Earlier hits of the entity, latest first, with what analysts decided. */
  earlierHits: {
    detection: string;
    headline: string;
    severity: string;
    status: string;
    reason: string | null;
    lastSeenAt: string;
  }[];
  /** How often the detection found this entity, and how many others, in the last 30 days. */
  prevalence: { windowsWithEntity: number; otherEntities: number; days: number };
  /** The titles of feed items about indicators in the rows. */
  feed: { indicator: string; items: string[] }[];
};
