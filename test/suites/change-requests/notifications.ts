import type { ChangeRequest } from '../../support/change-request.ts';

const guide = { 'docs/guide/destinations.md': 'src/platform/notifications/destination-kinds.test.ts' };

export const notificationRequests: ChangeRequest[] = [
  {
    addition: 'destination',
    edits: {
      'src/platform/notifications/destination-kinds.ts': [
        ['export const destinationKinds = {', "export const destinationKinds = {\n  fake: { label: 'Fake' },"],
      ],
    },
    compiler: {
      'src/platform/notifications/destination-kinds.ts': "missing the following properties from type 'KindDefinition'",
      'src/platform/notifications/destination-kinds.test.ts': "Property 'fake' is missing",
    },
    suites: guide,
  },
  {
    addition: 'event type',
    edits: {
      'src/platform/notifications/event-types.ts': [
        ['export const eventLabels = {', "export const eventLabels = {\n  'fake.happened': 'Fake',"],
      ],
    },
    compiler: { 'src/platform/notifications/event-types.ts': "Property 'fake' is missing" },
    suites: guide,
  },
];
