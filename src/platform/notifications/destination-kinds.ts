import type { EventBody } from './event-types.ts';
import { slackMessage, teamsMessage } from './chat-message.ts';

/** Everything that depends on the kind of a destination. */
type KindDefinition = {
  /** Shown to people. */
  label: string;
  /** Says which address the kind needs. Shown to people. */
  urlHint: string;
  /** The path of the address is a secret, so clients see only its origin. */
  isUrlSecret: boolean;
  /** Deliveries are signed with a secret of the destination. */
  isSigned: boolean;
  renderBody: (event: EventBody) => object;
  /** Returns whether a response with status 2xx reports a failure in its text. */
  reportsFailure: (text: string) => boolean;
};

export const destinationKinds = {
  webhook: {
    label: 'Webhook',
    urlHint: 'An endpoint of your own: https, or http to a host in TOCSIN_FETCH_ALLOW.',
    isUrlSecret: false,
    isSigned: true,
    renderBody: (event) => event,
    reportsFailure: () => false,
  },
  slack: {
    label: 'Slack',
    urlHint: 'The address of an incoming webhook of Slack.',
    isUrlSecret: true,
    isSigned: false,
    renderBody: slackMessage,
    reportsFailure: () => false,
  },
  teams: {
    label: 'Microsoft Teams',
    urlHint: 'The address of an incoming webhook or a workflow of Teams.',
    isUrlSecret: true,
    isSigned: false,
    renderBody: teamsMessage,
    // Teams reports its own throttling with status 200.
    reportsFailure: (text) => /HTTP error \d{3}/.test(text),
  },
} satisfies Record<string, KindDefinition>;

export type DestinationKind = keyof typeof destinationKinds;
export const kindNames = Object.keys(destinationKinds) as DestinationKind[];

/** Returns the definition of a kind. Throws for one that this version does not know, which a newer version may have stored. */
export function kindOf(kind: DestinationKind): KindDefinition {
  if (!Object.hasOwn(destinationKinds, kind)) throw new Error(`This version knows no destination of the kind ${kind}.`);
  return destinationKinds[kind];
}

/** Returns an address as clients may see it. */
export const showUrl = (kind: DestinationKind, url: string): string =>
  kindOf(kind).isUrlSecret ? `${new URL(url).origin}/…` : url;
