package conn

import (
	"go.temporal.io/sdk/contrib/envconfig"
	"go.temporal.io/sdk/converter"
)

// Codec gives the data converter of the codec server that the environment or
// temporal.toml names (TEMPORAL_CODEC_ENDPOINT, TEMPORAL_CODEC_AUTH), nil if
// they name none. It is for reading histories whose worker encodes them itself:
// [Options] leaves it out, as every Temporal client does. It opens no
// connection. Its error is an [*Error] of [KindConfig].
func Codec(o Overrides) (converter.DataConverter, error) {
	env := envconfig.EnvLookupOS
	profile, info, err := profileOf(o, env)
	if err != nil || profile.Codec == nil {
		return nil, err
	}
	opts, err := profile.ToClientOptions(envconfig.ToClientOptionsRequest{IncludeRemoteCodec: true})
	if err != nil {
		return nil, configError(info, configFile(env), err)
	}
	return opts.DataConverter, nil
}
