/** Request headers that operations share, as parameters of the OpenAPI document. */
export const headerParameters = {
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    description:
      'Makes a repeated request safe: for 24 hours, the same key with the same body returns the first response. Any text of 1 to 255 visible ASCII characters, such as a UUID.',
    schema: { type: 'string', minLength: 1, maxLength: 255 },
    example: '7c1f0c4e-4f0a-4a53-9a53-52f0e29c7a7b',
  },
  IfMatch: {
    name: 'If-Match',
    in: 'header',
    description:
      'The `ETag` of the record that the change is based on, or its `updatedAt` in quotes. Without it, the change applies to any version.',
    schema: { type: 'string' },
  },
};

export const parameterRef = (name: keyof typeof headerParameters): { $ref: string } => ({
  $ref: `#/components/parameters/${name}`,
});
