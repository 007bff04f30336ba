import type { ChangeRequest } from '../../support/change-request.ts';

export const notificationRequests: ChangeRequest[] = [
  {
    addition: 'event type',
    edits: {
      'src/platform/notifications/event-types.ts': [
        ['export const eventLabels = {', "export const eventLabels = {\n  'fake.happened': 'Fake',"],
      ],
    },
    compiler: { 'src/platform/notifications/event-types.ts': "Property 'fake' is missing" },
  },
];
