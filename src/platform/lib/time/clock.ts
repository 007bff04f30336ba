/**
 * Returns slot time: the injected clock of slots, windows, `_ingested`, memory, suppression and statistics.
 * Leases, back-off and keys use machine time instead.
 */
export type Clock = () => Date;

export const systemClock: Clock = () => new Date();
