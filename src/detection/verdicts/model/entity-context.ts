/**
 * The context of an entity besides the rows of a candidate, by who wrote it. All of it is data for the judge, not evidence. Text from outside
 * may raise a verdict, but never lower it.
 */
export type EntityContext = {
  organization: {
    /** Notes about the entity and about other values in its rows, for example that a host is a backup server. */
    notes: { entity: string; note: string }[];
    /** Earlier hits of the entity, latest first, with what analysts decided. Without their headlines, which quote rows. */
    earlierHits: {
      detection: string;
      severity: string;
      status: string;
      reason: string | null;
      lastSeenAt: string;
    }[];
    /** How often the detection found this entity, and how many others, in the last 30 days. */
    prevalence: { windowsWithEntity: number; otherEntities: number; days: number };
  };
  outside: {
    /** The titles of feed items about indicators in the rows. */
    feed: { indicator: string; items: string[] }[];
  };
};

/** Returns whether a context contains text from outside. */
export const hasOutsideText = ({ outside }: EntityContext): boolean => outside.feed.length > 0;

/** Returns a context without the text from outside. */
export const withoutOutside = (context: EntityContext): EntityContext => ({ ...context, outside: { feed: [] } });
